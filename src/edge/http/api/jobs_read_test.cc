#include "edge/http/api/api_fixture.h"
#include "edge/http/api/job_json.h"

namespace fairlead::http {
namespace {

class JobListApi : public ApiTest {
 protected:
  std::vector<std::string> ids(const std::string& target) {
    std::vector<std::string> found;
    for (const json::value& item : get(target).items()) {
      found.emplace_back(item.at("id").as_string());
    }
    return found;
  }
  std::string submit_at(const std::string& body = R"({"prompt":"p"})") {
    std::string job = submit_job(body);
    loop_.run_for(1ms);
    return job;
  }
};
using Ids = std::vector<std::string>;

TEST_F(JobListApi, ListsTheMostRecentlyChangedFirst) {
  std::string a = submit_at(), b = submit_at();
  ASSERT_EQ(post("/api/v1/jobs/" + a + "/cancel").status, 200);
  EXPECT_EQ(ids("/api/v1/jobs"), (Ids{a, b}));
}

TEST_F(JobListApi, FiltersByStateTopicTeamTraceAndTime) {
  std::string a = submit_at(R"({"prompt":"p","team_id":"red"})");
  std::string b = submit_at(R"({"prompt":"p","topic":"job.train"})");
  std::string c = submit_at();
  ASSERT_EQ(post("/api/v1/jobs/" + c + "/cancel").status, 200);
  EXPECT_EQ(ids("/api/v1/jobs?state=cancelled"), Ids{c});
  EXPECT_EQ(ids("/api/v1/jobs?state=PENDING"), (Ids{b, a}));
  EXPECT_EQ(ids("/api/v1/jobs?state=PENDING&state=CANCELLED"), (Ids{c, b, a}));
  EXPECT_EQ(ids("/api/v1/jobs?state=running,cancelled"), Ids{c});
  EXPECT_EQ(ids("/api/v1/jobs?topic=job.train"), Ids{b});
  EXPECT_EQ(ids("/api/v1/jobs?team=red"), Ids{a});
  std::string trace = get("/api/v1/jobs/" + b).text("trace_id");
  EXPECT_EQ(ids("/api/v1/jobs?trace_id=" + trace), Ids{b});
  int64_t at = get("/api/v1/jobs/" + b).body.at("updated_at").as_int64();
  EXPECT_EQ(ids("/api/v1/jobs?updated_after=" + std::to_string(at)), (Ids{c, b}));
  EXPECT_EQ(ids("/api/v1/jobs?updated_before=" + std::to_string(at)), (Ids{b, a}));
}

TEST_F(JobListApi, PagesMissNothingAlsoWhereAllChangedInOneMicrosecond) {
  std::set<std::string> all, seen;
  for (int i = 0; i < 7; ++i) all.insert(submit_job());
  for (int i = 0; i < 3; ++i) all.insert(submit_at(R"({"prompt":"p","topic":"job.train"})"));
  for (const char* filter : {"", "&state=PENDING", "&state=PENDING,RUNNING"}) {
    std::string cursor;
    seen.clear();
    int pages = 0;
    do {
      Answered page = get("/api/v1/jobs?limit=2" + std::string(filter) + "&cursor=" + cursor);
      ASSERT_EQ(page.status, 200);
      for (const json::value& item : page.items()) seen.emplace(item.at("id").as_string());
      cursor = page.text("next_cursor");
      ASSERT_LT(++pages, 20);
    } while (!cursor.empty());
    EXPECT_EQ(seen, all) << filter;
  }
}

TEST_F(JobListApi, ARareTeamIsFoundBehindManyOthers) {
  std::string rare = submit_at(R"({"prompt":"p","team_id":"rare"})");
  for (int i = 0; i < 30; ++i) submit_at();
  Answered page = get("/api/v1/jobs?limit=5&team=rare");
  ASSERT_EQ(page.items().size(), 1u);
  EXPECT_EQ(page.items()[0].at("id").as_string(), rare.c_str());
  EXPECT_TRUE(page.body.at("next_cursor").is_null());
}

TEST_F(JobListApi, AListOfLongJobsHoldsWhatItShowsAndNotTheJobs) {
  const std::string long_job = R"({"capability":"sums","risk_tags":["money"],"prompt":")" +
                               std::string(50'000, 'p') + R"(","context":")" +
                               std::string(60'000, 'c') + R"("})";
  constexpr size_t kJobs = 50;
  for (size_t i = 0; i < kJobs; ++i) submit_job(long_job);
  store::Query query;
  query.limit = kJobs;
  auto page = run_answer(store_.scan(query));
  ASSERT_EQ(page.records.size(), kJobs);

  auto rows = run(job_rows(*backend_, std::move(page.records)));
  ASSERT_TRUE(rows.has_value());
  size_t held = 0;
  for (const ShownJob& job : rows->jobs) held += job.bytes();
  EXPECT_EQ(rows->bytes, held);
  EXPECT_LT(held, kJobs << 11) << "the longest list holds less than 1 MB";

  Answered list = get("/api/v1/jobs?limit=500");
  ASSERT_EQ(list.items().size(), kJobs);
  EXPECT_EQ(list.items()[0].at("capability"), "sums");
  EXPECT_EQ(list.items()[0].at("risk_tags"), json::array{"money"});
}

TEST_F(JobListApi, ALongListLetsOthersHaveTheirTurn) {
  for (int i = 0; i < 50; ++i) submit_job();
  store::Query query;
  query.limit = 50;
  std::vector<job::Record> records = run_answer(store_.scan(query)).records;
  std::vector<std::string> order;
  auto list = [](Backend& backend, std::vector<job::Record> found,
                 std::vector<std::string>& done) -> Task<void> {
    auto rows = co_await job_rows(backend, std::move(found));
    EXPECT_EQ(rows->jobs.size(), 50u);
    done.emplace_back("list");
  };
  tasks_.spawn(list(*backend_, std::move(records), order));
  loop_.post([&] { order.emplace_back("another"); });
  loop_.run_for(1s);
  EXPECT_EQ(order, (std::vector<std::string>{"another", "list"}));
}

TEST_F(JobListApi, RefusesWhatItCannotRead) {
  EXPECT_EQ(get("/api/v1/jobs?state=NOPE").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=x").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=0").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?cursor=nonsense").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?updated_after=soon").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=100000").status, 200);
}

TEST_F(JobListApi, TheClientsOwnFormHasTimesAsText) {
  submit_at();
  EXPECT_TRUE(get("/api/v1/jobs").items()[0].at("updated_at").is_int64());
  Pairs sdk{{"user-agent", "cordum-sdk-python/1.2"}};
  EXPECT_TRUE(get("/api/v1/jobs", sdk).items()[0].at("updated_at").is_string());
}

TEST_F(JobListApi, AFailedJobTellsWhy) {
  worker("w1");
  std::string job = submit_job();
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_FAILED);
  Answered detail = get("/api/v1/jobs/" + job);
  EXPECT_EQ(detail.text("state"), "FAILED");
  EXPECT_EQ(detail.text("error_status"), "FAILED");
  EXPECT_FALSE(detail.text("last_state").empty());
  EXPECT_TRUE(detail.object().contains("finished_at"));
}

TEST_F(JobListApi, AResultIsShownAsJsonOrText) {
  worker("w1");
  std::string job = submit_job();
  (void)run_answer(
      store_.put_blob("res:" + job, {R"({"answer":42})", {}}, store::BlobCondition::kAlways));
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("result").at("answer"), 42);
  (void)run_answer(
      store_.put_blob("res:" + job, {"plain words", {}}, store::BlobCondition::kAlways));
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("result"), "plain words");
}

TEST_F(JobListApi, OfAPayloadThatIsTooLargeToBeShownTheSizeIs) {
  worker("w1");
  std::string job = submit_job();
  auto result = [&](const std::string& bytes) {
    (void)run_answer(store_.put_blob("res:" + job, {bytes, {}}, store::BlobCondition::kAlways));
    return get("/api/v1/jobs/" + job);
  };
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
  EXPECT_EQ(result("[1,\n 2]").body.at("result"), (json::array{1, 2}));
  EXPECT_EQ(result("[1,2").body.at("result"), "[1,2");
  EXPECT_EQ(result("").body.at("result"), "");

  const std::string longest(limits::kPayloadShownBytesMax, 'x');
  EXPECT_EQ(result(longest).text("result"), longest);
  Answered larger = result(longest + "x");
  EXPECT_TRUE(larger.body.at("result").is_null());
  EXPECT_EQ(larger.body.at("result_size_bytes"), longest.size() + 1);
  EXPECT_EQ(larger.text("result_ptr"), "redis://res:" + job);
}

// Building what others wrote costs many times what copying it does.
TEST_F(JobListApi, APayloadIsCopiedAndNotBuilt) {
  worker("w1");
  std::string job = submit_job();
  const std::string written = "[[ ], 1.50,\n12345678901234567890123, {}]";
  (void)run_answer(store_.put_blob("res:" + job, {written, {}}, store::BlobCondition::kAlways));
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
  for (const std::string& path : {"/api/v1/jobs/" + job, std::string("/api/v1/memory")}) {
    Request request;
    request.path = path;
    request.query = {{"key", "res:" + job}};
    request.caller = caller_;
    ReadTools tools{random_, clock_};
    Reply reply = run(api_.plan(request, tools)->call(*backend_));
    EXPECT_NE(reply.render().find(":" + written), std::string::npos) << path;
  }
}

TEST_F(JobListApi, TimelineAndDecisionsTellTheJobsWay) {
  worker("w1");
  std::string job = submit_job();
  Answered timeline = get("/api/v1/jobs/" + job + "/timeline");
  ASSERT_GE(timeline.items().size(), 2u);
  EXPECT_EQ(timeline.items().back().at("state"), "RUNNING");
  Answered decisions = get("/api/v1/jobs/" + job + "/decisions");
  ASSERT_EQ(decisions.body.as_array().size(), 1u);
  EXPECT_EQ(decisions.body.at(0).at("decision"), "ALLOW");
  EXPECT_EQ(get("/api/v1/jobs/nope/timeline").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/nope/decisions").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/nope").status, 404);
}

TEST_F(JobListApi, ATraceTellsItsJobs) {
  std::string job = submit_job();
  std::string trace = get("/api/v1/jobs/" + job).text("trace_id");
  Answered jobs = get("/api/v1/traces/" + trace);
  ASSERT_EQ(jobs.body.as_array().size(), 1u);
  EXPECT_EQ(get("/api/v1/traces/none").body.as_array().size(), 0u);
  caller_ = {TenantId("acme"), false, Role::kViewer, {}};
  EXPECT_EQ(get("/api/v1/traces/" + trace).body.as_array().size(), 0u);
}

TEST_F(JobListApi, HealthAndStatusAnswer) {
  worker("w1");
  submit_job();
  EXPECT_EQ(get("/health").text("status"), "healthy");
  EXPECT_EQ(get("/readyz").text("status"), "ok");
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/api/v1/health").status, 200);
  Answered status = get("/api/v1/status");
  EXPECT_EQ(status.body.at("nats").at("connected"), true);
  EXPECT_EQ(status.body.at("redis").at("ok"), true);
  EXPECT_EQ(status.body.at("workers").at("count"), 1);
  EXPECT_EQ(status.body.at("pipeline").at("running"), 1);
  for (const char* name : {"goroutine_count", "redis_pool_stats", "license"}) {
    EXPECT_TRUE(status.object().contains(name)) << name;
  }
  const char* for_admins[] = {"instance_id", "rate_limiter",  "circuit_breakers",
                              "ha_env",      "snapshot_meta", "replicas"};
  for (const char* name : for_admins) EXPECT_TRUE(status.object().contains(name)) << name;
  caller_.role = Role::kViewer;
  Answered less = get("/api/v1/status");
  for (const char* name : for_admins) EXPECT_FALSE(less.object().contains(name)) << name;
}

TEST_F(JobListApi, HealthAndStatusTellWhetherTheServersOfAClusterAreThere) {
  backend_->servers = [] { return Servers{.embedded = false, .nats = true, .redis = true}; };
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/api/v1/status").text("nats_status"), "connected");
  backend_->servers = [] { return Servers{.embedded = false, .nats = false, .redis = true}; };
  Answered health = get("/health");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.text("status"), "degraded");
  EXPECT_EQ(health.text("nats"), "unavailable");
  EXPECT_EQ(get("/livez").status, 200) << "a restart would not help";
  loop_.run_for(limits::kStatusFor);
  EXPECT_EQ(get("/api/v1/status").body.at("nats").at("connected"), false);
}

TEST_F(JobListApi, WhatIsNoTextIsShownInBase64) {
  worker("w1");
  std::string job = submit_job();
  (void)run_answer(store_.put_blob("res:" + job, {std::string("\xff\0z", 3), {}},
                                   store::BlobCondition::kAlways));
  (void)run_answer(store_.put_blob("ctx:" + job, {"\xfe", {}}, store::BlobCondition::kAlways));
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
  Answered detail = get("/api/v1/jobs/" + job);
  EXPECT_TRUE(detail.body.at("result").is_null());
  EXPECT_EQ(detail.text("result_base64"), "/wB6");
  EXPECT_TRUE(detail.body.at("context").is_null());
  EXPECT_EQ(detail.text("context_base64"), "/g==");
}

TEST_F(JobListApi, DecisionsTellTheLastWordFirstAndWhatWasSaidBefore) {
  gate_.decide(Topic("job.default"), {.kind = job::Decision::Kind::kUnavailable});
  std::string job = submit_job();
  gate_.decide(Topic("job.default"), {.kind = job::Decision::Kind::kAllow, .reason = "now"});
  worker("w1");
  loop_.run_for(10s);
  Answered all = get("/api/v1/jobs/" + job + "/decisions");
  ASSERT_EQ(all.body.as_array().size(), 2u);
  EXPECT_EQ(all.body.at(0).at("decision"), "ALLOW");
  EXPECT_EQ(all.body.at(0).at("reason"), "now");
  EXPECT_EQ(all.body.at(1).at("decision"), "UNAVAILABLE");
  EXPECT_EQ(get("/api/v1/jobs/" + job + "/decisions?limit=1").body.as_array().size(), 1u);
}

TEST_F(JobListApi, ALongTraceIsToldPageByPage) {
  cordum::agent::v1::BusPacket packet;
  for (int i = 0; i < 5; ++i) {
    packet.mutable_job_request()->set_job_id("j" + std::to_string(i));
    packet.mutable_job_request()->set_topic("job.default");
    publish(bus::kSubmitSubject, packet);  // all of one trace
    loop_.run_for(1ms);
  }
  Ids all;
  std::string cursor;
  do {
    Answered page = get("/api/v1/traces/trace?limit=2&cursor=" + cursor);
    for (const json::value& item : page.body.as_array())
      all.emplace_back(item.at("id").as_string());
    cursor = page.header("X-Next-Cursor");
  } while (!cursor.empty() && all.size() < 100);
  EXPECT_EQ(all, (Ids{"j0", "j1", "j2", "j3", "j4"}));
  EXPECT_EQ(get("/api/v1/traces/trace?cursor=nonsense").status, 400);
}

TEST_F(JobListApi, TheCountsOfEndedJobsOutliveTheScheduler) {
  worker("w1");
  finish(submit_job(), "w1");
  restart();
  Answered status = get("/api/v1/status");
  EXPECT_EQ(status.body.at("pipeline").at("succeeded"), 1);
  EXPECT_EQ(status.header("X-Cache"), "MISS");
}

TEST_F(JobListApi, StatusIsCountedOnceASecond) {
  Answered first = get("/api/v1/status");
  EXPECT_EQ(first.header("X-Cache"), "MISS");
  submit_job();
  Answered again = get("/api/v1/status");
  EXPECT_EQ(again.header("X-Cache"), "HIT");
  EXPECT_EQ(again.body, first.body);
  caller_.role = Role::kViewer;
  EXPECT_EQ(get("/api/v1/status").header("X-Cache"), "MISS") << "others see less";
  loop_.run_for(limits::kStatusFor);
  Answered later = get("/api/v1/status");
  EXPECT_EQ(later.header("X-Cache"), "MISS");
  EXPECT_EQ(later.body.at("pipeline").at("pending"), 1);
}

TEST_F(JobListApi, StatusTellsATenantTheNumbersOfItsOwnJobsOnly) {
  worker("w1");
  finish(submit_job(), "w1");
  submit_job(R"({"prompt":"p"})");
  submit_job(R"({"prompt":"p","tenant_id":"acme"})");
  EXPECT_EQ(get("/api/v1/status").body.at("pipeline").at("running"), 2);
  for (Role role : {Role::kViewer, Role::kAdmin}) {
    caller_ = {TenantId("acme"), false, role, {}};
    const json::object own = get("/api/v1/status").body.at("pipeline").as_object();
    EXPECT_EQ(own.at("running"), 1);
    EXPECT_FALSE(own.contains("succeeded"));
  }
  caller_ = {TenantId("default"), true, Role::kAdmin, {}};
  loop_.run_for(limits::kStatusFor);
  EXPECT_EQ(get("/api/v1/status").body.at("pipeline").at("running"), 2);
}

TEST_F(JobListApi, AServerThatStopsIsAliveAndNotReady) {
  backend_->stopping = true;
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/livez").status, 200);
}

TEST_F(JobListApi, WhatStoredTextIsNoUtf8StillMakesAnAnswer) {
  job::Record record;
  record.id = JobId("odd");
  record.tenant = TenantId("default");
  record.state = job::State::kFailed;
  record.error_message = "cut \xe2\x82";
  record.created_at = record.updated_at = clock_.wall();
  store::Change change;
  change.path = {job::State::kPending, job::State::kFailed};
  *change.next = record;
  (void)run_answer(store_.apply(std::move(change)));
  EXPECT_EQ(get("/api/v1/jobs/odd").text("error_message"), "cut \ufffd\ufffd");
  EXPECT_EQ(get("/api/v1/jobs").items().size(), 1u);
}

}  // namespace
}  // namespace fairlead::http
