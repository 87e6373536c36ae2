// Workers, pools, topics, queues, placement, memory.
#include "edge/http/api/api_fixture.h"
#include "edge/http/api/event_tap.h"

namespace fairlead::http {
namespace {

class FleetApi : public ApiTest {};

TEST_F(FleetApi, WorkersAreListedByIdAndPage) {
  worker("w2");
  worker("w1", "gpu");
  Answered all = get("/api/v1/workers");
  ASSERT_EQ(all.items().size(), 2u);
  EXPECT_EQ(all.items()[0].at("worker_id"), "w1");
  EXPECT_EQ(all.items()[0].at("online"), true);
  Answered page = get("/api/v1/workers?limit=1");
  EXPECT_EQ(page.text("next_cursor"), "w1");
  EXPECT_EQ(get("/api/v1/workers?cursor=w1").items().size(), 1u);
  EXPECT_EQ(get("/api/v1/workers?pool=gpu").items().size(), 1u);
  EXPECT_EQ(get("/api/v1/workers/w2").text("pool"), "default");
  EXPECT_EQ(get("/api/v1/workers/none").status, 404);
}

TEST_F(FleetApi, AWorkerThatTakesSomeTopicsOnlyIsShownSo) {
  worker("w1");
  cordum::agent::v1::BusPacket packet;
  packet.mutable_handshake()->set_component_id("w1");
  packet.mutable_handshake()->set_role(cordum::agent::v1::COMPONENT_ROLE_WORKER);
  packet.mutable_handshake()->add_ready_topics("job.other");
  publish(bus::kHandshakeSubject, packet);
  EXPECT_EQ(json::serialize(get("/api/v1/workers/w1").body.at("ready_topics")), R"(["job.other"])");
  EXPECT_EQ(get("/api/v1/topics").items()[0].at("active_worker_count"), 0);
  Answered placement = post("/api/v1/jobs/explain-placement", R"({"topic":"job.default"})");
  EXPECT_EQ(placement.body.at("rejected").at(0).at("cause"), "not_ready");
}

TEST_F(FleetApi, ATopicTellsHowManyLiveWorkersServeItInAnyOfItsPools) {
  worker("old", "gpu");
  loop_.run_for(40s);
  worker("w1");
  worker("w2", "gpu");
  worker("w3", "gpu");
  worker("w4", "elsewhere");
  cordum::agent::v1::BusPacket packet;
  packet.mutable_handshake()->set_component_id("w3");
  packet.mutable_handshake()->set_role(cordum::agent::v1::COMPONENT_ROLE_WORKER);
  packet.mutable_handshake()->add_ready_topics("job.train");
  publish(bus::kHandshakeSubject, packet);
  ASSERT_EQ(call(Method::kPut, "/api/v1/pools/gpu/topics/job.default").status, 204);
  Answered topics = get("/api/v1/topics");
  EXPECT_EQ(topics.items()[0].at("active_worker_count"), 2) << "w1 and w2";
  EXPECT_EQ(topics.items()[1].at("active_worker_count"), 2) << "w2 and w3";
}

// Whoever looks at the workers asks once what time it is.
class CountingClock final : public Clock {
 public:
  explicit CountingClock(const Clock& clock) : clock_(clock) {}
  WallTime wall() const override { return clock_.wall(); }
  MonotonicTime monotonic() const override {
    ++looks;
    return clock_.monotonic();
  }

  mutable int looks = 0;

 private:
  const Clock& clock_;
};

TEST_F(FleetApi, AListOfManyTopicsLooksAtTheWorkersOnce) {
  worker("w1");
  auto many = [](PoolBook::Topics& topics, PoolBook::Pools&) -> Result<void> {
    for (int i = 0; i < 100; ++i) topics["job.t" + std::to_string(i)].pools = {"default"};
    return {};
  };
  ASSERT_TRUE(run(pools_->change(many)).has_value());
  CountingClock clock(clock_);
  backend_ = std::make_unique<Backend>(Backend{loop_, clock, random_, store_, *bus_, log_,
                                               *scheduler_, *pools_, Build{}, clock_.monotonic()});
  EXPECT_EQ(get("/api/v1/topics").items().size(), 102u);
  EXPECT_EQ(clock.looks, 1);
  backend_.reset();
}

TEST_F(FleetApi, AWorkersJobsAreThoseItHas) {
  worker("w1");
  std::string job = submit_job();
  Answered jobs = get("/api/v1/workers/w1/jobs");
  ASSERT_EQ(jobs.items().size(), 1u);
  EXPECT_EQ(jobs.items()[0].at("id").as_string(), job.c_str());
  EXPECT_EQ(get("/api/v1/workers/none/jobs").status, 404);
}

TEST_F(FleetApi, AWorkersJobsAreThoseItHadToo) {
  worker("w1");
  worker("w2", "gpu");
  std::string done = submit_job(R"({"prompt":"p","capability":"ocr"})");
  finish(done, "w1");
  loop_.run_for(1ms);
  std::string now = submit_job();
  Answered jobs = get("/api/v1/workers/w1/jobs");
  ASSERT_EQ(jobs.items().size(), 2u);
  EXPECT_EQ(jobs.items()[0].at("id").as_string(), now.c_str());
  EXPECT_EQ(jobs.items()[1].at("id").as_string(), done.c_str());
  EXPECT_EQ(jobs.items()[1].at("capability"), "ocr");
  EXPECT_EQ(get("/api/v1/workers/w1/jobs?limit=1").items().size(), 1u);
  EXPECT_EQ(get("/api/v1/workers/w2/jobs").items().size(), 0u);
  Pairs sdk{{"x-cordum-profile", "openapi"}};
  EXPECT_TRUE(get("/api/v1/workers/w1/jobs", sdk).items()[0].at("updated_at").is_string());
  caller_ = {TenantId("acme"), false, Role::kViewer, {}};
  EXPECT_EQ(get("/api/v1/workers/w1/jobs").items().size(), 0u) << "another tenant's";
}

TEST_F(FleetApi, PoolsTellTheirWorkersAsNumberAndList) {
  worker("w1");
  submit_job();
  Answered pool = get("/api/v1/pools/default");
  EXPECT_EQ(pool.body.at("workers"), 1);
  EXPECT_EQ(pool.body.at("worker_list").as_array().size(), 1u);
  EXPECT_EQ(pool.body.at("active_jobs"), 1);
  EXPECT_EQ(pool.body.at("capacity"), 4);
  EXPECT_EQ(get("/api/v1/pools").items().size(), 2u) << "also those without a worker";
  EXPECT_EQ(get("/api/v1/pools/none").status, 404);
}

TEST_F(FleetApi, APoolIsMadeChangedDrainedAndTakenAway) {
  Answered made = call(Method::kPut, "/api/v1/pools/spare", R"({"requires":["Tpu "]})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(json::serialize(made.body.at("requires")), R"(["tpu"])");
  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/spare", R"({"requires":["tpu"]})").status, 200);
  EXPECT_EQ(call(Method::kPatch, "/api/v1/pools/spare", R"({"status":"inactive"})").text("status"),
            "inactive");
  Answered drained = post("/api/v1/pools/spare/drain", R"({"timeout_seconds":60})");
  EXPECT_EQ(drained.text("status"), "draining");
  loop_.run_for(61s);
  EXPECT_EQ(get("/api/v1/pools/spare").text("status"), "inactive");
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/spare").status, 204);
  EXPECT_EQ(get("/api/v1/pools/spare").status, 404);

  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/No", "{}").status, 400);
  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/a--b", "{}").status, 400);
  EXPECT_EQ(call(Method::kPatch, "/api/v1/pools/none", "{}").status, 404);
  EXPECT_EQ(call(Method::kPatch, "/api/v1/pools/default", R"({"status":"odd"})").status, 400);
  EXPECT_EQ(post("/api/v1/pools/default/drain", R"({"timeout_seconds":99999})").status, 400);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/none").status, 404);
}

TEST_F(FleetApi, ADrainedPoolGetsNoJobs) {
  worker("w1");
  ASSERT_EQ(post("/api/v1/pools/default/drain").status, 200);
  Answered answer = post("/api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_EQ(answer.body.at("warnings").at(0).at("code"), "no_pool_mapping");
}

TEST_F(FleetApi, APoolInUseIsKeptUnlessForced) {
  worker("w1", "gpu");
  Answered kept = call(Method::kDelete, "/api/v1/pools/gpu");
  EXPECT_EQ(kept.status, 409);
  EXPECT_EQ(kept.text("code"), "pool_in_use");
  EXPECT_EQ(json::serialize(kept.body.at("agent_ids")), R"(["w1"])");
  EXPECT_EQ(kept.body.at("queued_jobs"), 0);
  submit_job(R"({"prompt":"p","topic":"job.train"})");
  for (int i = 0; i < 4; ++i) submit_job(R"({"prompt":"p","topic":"job.train"})");
  kept = call(Method::kDelete, "/api/v1/pools/gpu");
  EXPECT_EQ(kept.body.at("active_jobs"), 4);
  EXPECT_EQ(kept.body.at("queued_jobs"), 1) << "those that wait";
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/gpu?force=true").status, 204);
  EXPECT_EQ(get("/api/v1/topics").items().size(), 1u) << "its only topic went with it";
}

TEST_F(FleetApi, ATopicMadeByACallLastsAcrossRestarts) {
  Answered made = post("/api/v1/topics", R"({"name":"job.new","pool":"default"})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(post("/api/v1/topics", R"({"name":"job.new","pool":"default"})").status, 200);
  restart();
  EXPECT_EQ(get("/api/v1/topics").items().size(), 3u);
  submit_job(R"({"prompt":"p","topic":"job.new"})");
  EXPECT_EQ(call(Method::kDelete, "/api/v1/topics/job.new").status, 204);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/topics/job.train").status, 204);
  restart();
  EXPECT_EQ(get("/api/v1/topics").items().size(), 1u) << "one of the file's was taken away";
  EXPECT_EQ(call(Method::kDelete, "/api/v1/topics/job.default").status, 400) << "the last one";
  EXPECT_EQ(call(Method::kDelete, "/api/v1/topics/job.none").status, 404);
}

TEST_F(FleetApi, AnEditedFileIsInForceUnderWhatCallsDid) {
  ASSERT_EQ(post("/api/v1/topics", R"({"name":"job.called","pool":"default"})").status, 201);
  ASSERT_EQ(call(Method::kDelete, "/api/v1/topics/job.train").status, 204);
  auto edited = [](const char* text) {
    return std::make_shared<const routing::PoolMap>(*routing::parse_pool_map(text));
  };
  auto taken = run(pools_->replace_file(
      edited("topics: {job.default: default, job.train: default, job.new: other}\n"
             "pools: {default: {}, other: {}}\n")));
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_TRUE(pools_->topics().contains("job.new"));
  EXPECT_TRUE(pools_->topics().contains("job.called"));
  EXPECT_FALSE(pools_->topics().contains("job.train")) << "a call took it away";
  EXPECT_NE(scheduler_->pools().pools_of(Topic("job.new")), nullptr);
  auto refused =
      run(pools_->replace_file(edited("topics: {job.new: other}\npools: {other: {}}\n")));
  EXPECT_FALSE(refused.has_value()) << "job.called has no pool any more";
  EXPECT_TRUE(pools_->topics().contains("job.default")) << "and all is as it was";
}

TEST_F(FleetApi, TopicsAreCheckedAndMayBeDisabled) {
  EXPECT_EQ(post("/api/v1/topics", R"({"name":"x","pool":"default"})").status, 400);
  EXPECT_EQ(post("/api/v1/topics", R"({"name":"job.x"})").status, 400);
  EXPECT_EQ(post("/api/v1/topics", R"({"name":"job.x","pool":"none"})").text("code"),
            "unknown_pool");
  EXPECT_EQ(post("/api/v1/topics", R"({"name":"job.x","pool":"default","odd":1})").status, 400);
  ASSERT_EQ(
      post("/api/v1/topics", R"({"name":"job.x","pool":"default","status":"disabled"})").status,
      201);
  EXPECT_EQ(post("/api/v1/jobs", R"({"prompt":"p","topic":"job.x"})").text("code"),
            "topic_disabled");
}

TEST_F(FleetApi, APoolIsMappedToATopicAndBack) {
  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/gpu/topics/job.default").status, 204);
  EXPECT_EQ(get("/api/v1/topics").items()[0].at("pools").as_array().size(), 2u);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/gpu/topics/job.default").status, 204);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/gpu/topics/job.train").status, 400);
  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/none/topics/job.default").status, 404);
  for (const char* odd : {"odd", "job.", "job.a..b", "job.a%20b", "job.%2A"}) {
    EXPECT_EQ(call(Method::kPut, std::string("/api/v1/pools/gpu/topics/") + odd).status, 400)
        << odd;
  }
  EXPECT_EQ(call(Method::kDelete, "/api/v1/pools/gpu/topics/job.none").status, 404);
}

TEST_F(FleetApi, QueuesTellCountsAndTheOldest) {
  submit_job();
  loop_.run_for(10s);
  submit_job();
  Answered queues = get("/api/v1/queues");
  ASSERT_EQ(queues.items().size(), 2u);
  const json::value& queue = queues.items()[0];
  EXPECT_EQ(queue.at("topic"), "job.default");
  EXPECT_EQ(queue.at("counts").at("PENDING"), 2);
  EXPECT_GE(queue.at("oldest_age_seconds").as_double(), 10.0);
  EXPECT_EQ(queue.at("received_total"), 2);
  EXPECT_EQ(queues.body.at("truncated"), false);
}

TEST_F(FleetApi, ATenantSeesTheNumbersOfItsOwnQueuesOnly) {
  submit_job();
  submit_job(R"({"prompt":"p","tenant_id":"acme"})");
  caller_ = {TenantId("acme"), false, Role::kViewer, {}};
  json::value queue = get("/api/v1/queues").items()[0];
  EXPECT_EQ(queue.at("counts").at("PENDING"), 1);
  for (const char* of_all : {"received_total", "completed_total", "completed_per_second"}) {
    EXPECT_FALSE(queue.as_object().contains(of_all)) << of_all;
  }
}

TEST_F(FleetApi, TheRateOfAQueueIsThatOfTheLastMinute) {
  worker("w1", "default", 100);
  auto sample_for = [&](std::chrono::seconds seconds, int jobs_each) {
    for (auto passed = 0s; passed < seconds; passed += 5s) {
      backend_->rates.sample(scheduler_->metrics(), clock_.monotonic());
      for (int i = 0; i < jobs_each; ++i) finish(submit_job(), "w1");
      loop_.run_for(5s);
      worker("w1", "default", 100);
    }
  };
  auto rate = [&] {
    return get("/api/v1/queues").items()[0].at("completed_per_second").as_double();
  };
  sample_for(60s, 10);
  EXPECT_NEAR(rate(), 2.0, 0.2);
  sample_for(120s, 0);
  EXPECT_EQ(rate(), 0.0) << "however much was done before";
}

TEST_F(FleetApi, ADryRunNamesTheChosenWorkerAndEveryRejectionAndChangesNothing) {
  worker("w1");
  worker("w2", "gpu");
  worker("busy", "default", 1);
  uint64_t received = scheduler_->metrics().value(scheduler::Counter::kJobsReceived);
  Answered answer = post("/api/v1/jobs/explain-placement", R"({"prompt":"p"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.at("placeable"), true);
  std::map<std::string, std::string> causes;
  for (const json::value& one : answer.body.at("rejected").as_array()) {
    causes[std::string(one.at("worker_id").as_string())] = one.at("cause").as_string();
  }
  EXPECT_EQ(causes["w2"], "pool_ineligible");
  EXPECT_EQ(causes.size(), 2u);
  EXPECT_TRUE(store_.all().empty());
  EXPECT_EQ(scheduler_->metrics().value(scheduler::Counter::kJobsReceived), received);

  Answered nowhere = post("/api/v1/jobs/explain-placement", R"({"labels":{"node.zone":"moon"}})");
  EXPECT_EQ(nowhere.body.at("placeable"), false);
  EXPECT_EQ(nowhere.text("reason"), "no_workers");
  Answered lacking =
      post("/api/v1/jobs/explain-placement", R"({"topic":"job.train","requires":["tpu"]})");
  EXPECT_EQ(lacking.text("reason"), "no_pool_mapping");
  EXPECT_EQ(lacking.body.at("pools").at(0).at("cause"), "missing_capability");
  causes.clear();
  for (const json::value& one : lacking.body.at("rejected").as_array()) {
    causes[std::string(one.at("worker_id").as_string())] = one.at("cause").as_string();
  }
  EXPECT_EQ(causes["w2"], "missing_capability");
  EXPECT_EQ(causes["w1"], "pool_ineligible");
  EXPECT_EQ(causes.size(), 3u);
  EXPECT_EQ(post("/api/v1/jobs/explain-placement", R"({"topic":1})").status, 400);
}

TEST_F(FleetApi, AWaitingJobTellsWhy) {
  std::string job = submit_job();
  Answered answer = get("/api/v1/jobs/" + job + "/placement");
  EXPECT_EQ(answer.body.at("wait").at("reason"), "no_workers");
  EXPECT_EQ(answer.body.at("placeable"), false);
  EXPECT_EQ(get("/api/v1/jobs/none/placement").status, 404);
}

TEST_F(FleetApi, MemoryShowsAPayload) {
  std::string job = submit_job();
  Answered shown = get("/api/v1/memory?ptr=redis://ctx:" + job);
  EXPECT_EQ(shown.text("kind"), "ctx");
  EXPECT_EQ(shown.body.at("json").at("prompt"), "hello");
  EXPECT_FALSE(shown.text("text").empty());
  (void)run_answer(
      store_.put_blob("res:bytes", {std::string("\xff\0", 2), {}}, store::BlobCondition::kAlways));
  Answered bytes = get("/api/v1/memory?key=res:bytes");
  EXPECT_EQ(bytes.text("base64"), "/wA=");
  EXPECT_FALSE(bytes.object().contains("text"));
  EXPECT_EQ(get("/api/v1/memory?key=ctx:none").status, 404);
  EXPECT_EQ(get("/api/v1/memory?key=fairlead:pools").status, 400);
  EXPECT_EQ(get("/api/v1/memory").status, 400);
  caller_ = {TenantId("acme"), false, Role::kAdmin, {}};
  EXPECT_EQ(get("/api/v1/memory?key=ctx:" + job).status, 404) << "another tenant's";
}

TEST_F(FleetApi, MemoryShowsWhateverThePayloadListenerTakes) {
  const std::string longest = "mem:" + std::string(limits::kPayloadKeyBytesMax - 4, 'x');
  (void)run_answer(store_.put_blob(longest, {"p", {}}, store::BlobCondition::kAlways));
  EXPECT_EQ(get("/api/v1/memory?key=" + longest).text("text"), "p");
  Answered refused = get("/api/v1/memory?key=" + longest + "x");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.text("error"), "the key has 1025 bytes, must have at most 1024");
}

TEST_F(FleetApi, OnlyAdminsOfAllTenantsChangeTheirTopicsAndPools) {
  const std::pair<Method, const char*> changes[] = {
      {Method::kPost, "/api/v1/topics"},
      {Method::kDelete, "/api/v1/topics/job.train"},
      {Method::kPut, "/api/v1/pools/gpu/topics/job.default"},
      {Method::kDelete, "/api/v1/pools/gpu/topics/job.train"},
      {Method::kPut, "/api/v1/pools/spare"},
      {Method::kPatch, "/api/v1/pools/gpu"},
      {Method::kDelete, "/api/v1/pools/gpu"},
      {Method::kPost, "/api/v1/pools/gpu/drain"},
  };
  const std::string body = R"({"name":"job.train","pool":"default"})";
  const Caller operator_of_all{.role = Role::kOperator, .cross_tenant = true};
  const Caller admin_of_one{.tenant = TenantId("acme"), .role = Role::kAdmin};
  for (const Caller& caller : {operator_of_all, admin_of_one}) {
    caller_ = caller;
    for (const auto& [method, path] : changes) {
      Answered refused = call(method, path, body);
      EXPECT_EQ(refused.status, 403) << to_string(method) << " " << path;
      EXPECT_EQ(refused.text("required"), "admin of every tenant");
    }
    EXPECT_EQ(get("/api/v1/topics").items().size(), 2u) << "reading is for everybody";
  }
  EXPECT_EQ(post("/api/v1/topics", body).text("granted"), "admin of tenant acme");
  // One who may act for any tenant, and named one.
  caller_ = {.tenant = TenantId("acme"), .role = Role::kAdmin, .cross_tenant = true};
  EXPECT_EQ(post("/api/v1/topics", body).status, 200);
  EXPECT_EQ(call(Method::kPut, "/api/v1/pools/gpu/topics/job.default").status, 204);
}

TEST_F(FleetApi, ATopicThatNamesSchemasIsWarnedThatNothingHoldsJobsAgainstThem) {
  Answered plain = post("/api/v1/topics", R"({"name":"job.plain","pool":"default"})");
  EXPECT_FALSE(plain.object().contains("warnings"));
  for (const char* field : {"input_schema_id", "output_schema_id"}) {
    Answered made = post("/api/v1/topics", std::string(R"({"name":"job.new","pool":"default",")") +
                                               field + R"(":"s1"})");
    EXPECT_EQ(made.text(field), "s1");
    EXPECT_EQ(made.body.at("warnings").at(0).at("code"), "schemas_not_enforced");
  }
  for (const json::value& topic : get("/api/v1/topics").items()) {
    EXPECT_FALSE(topic.as_object().contains("warnings"));
  }
}

TEST_F(FleetApi, ATapTellsOfPacketsAndCommitsWhileItIsOpen) {
  std::vector<TappedEvent> events;
  int closed = 0;
  EventTap tap(*backend_, {[&](std::vector<TappedEvent> batch) {
                             for (TappedEvent& event : batch) events.push_back(std::move(event));
                           },
                           [&] { ++closed; }});
  submit_job();
  EXPECT_TRUE(events.empty());
  tap.expect_reader();
  std::string job = submit_job();
  loop_.run_ready();
  bool packet = false, commit = false;
  for (const TappedEvent& event : events) {
    packet |= event.kind == TappedEvent::Kind::kPacket && event.job == job;
    commit |= event.record && event.record->id.str() == job;
  }
  EXPECT_TRUE(packet);
  EXPECT_TRUE(commit);
  events.clear();
  tasks_.spawn(tap.keep_watching());
  loop_.run_for(limits::kStreamReplayFor + limits::kHttpSweepEvery);
  EXPECT_FALSE(tap.open()) << "nobody has come";
  EXPECT_EQ(closed, 1) << "who remembers events is told";
  events.clear();
  submit_job();
  EXPECT_TRUE(events.empty());
  tasks_.drop();
}

TEST_F(FleetApi, ATapStaysOpenForAReaderThatIsNotCountedYet) {
  EventTap tap(*backend_, {[](std::vector<TappedEvent>) {}, [] {}});
  tasks_.spawn(tap.keep_watching());
  EXPECT_FALSE(tap.open());
  tap.expect_reader();
  loop_.run_for(limits::kHttpSweepEvery * 3);
  EXPECT_TRUE(tap.open()) << "what happens before its stream is open would be lost to it";
  tasks_.drop();
}

}  // namespace
}  // namespace fairlead::http
