#include "edge/http/api/api_fixture.h"

namespace fairlead::http {
namespace {

class JobsApi : public ApiTest {};

TEST_F(JobsApi, SubmitStoresTheJobWithItsContextAndAnswersWithItsIds) {
  worker("w1");
  Answered answer = post("/api/v1/jobs", R"({"prompt":"hello","context":{"n":[1,2]},
      "priority":"batch","labels":{"team":"x","_mine":"dropped"},"requires":[],"tags":["t"]})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.text("job_id").size(), 36u);
  EXPECT_EQ(answer.header("X-Trace-Id"), answer.text("trace_id"));
  EXPECT_FALSE(answer.object().contains("warnings"));
  EXPECT_EQ(state_of(answer.text("job_id")), "RUNNING");

  Answered job = get("/api/v1/jobs/" + answer.text("job_id"));
  EXPECT_EQ(job.status, 200);
  EXPECT_EQ(job.text("context_ptr"), "redis://ctx:" + answer.text("job_id"));
  EXPECT_EQ(job.body.at("context").at("prompt"), "hello");
  EXPECT_EQ(json::serialize(job.body.at("context").at("context")), R"({"n":[1,2]})");
  EXPECT_EQ(json::serialize(job.body.at("labels")),
            R"({"_content.payload_json":"{\"n\":[1,2]}","_content.prompt":"hello",)"
            R"("_source":"api","team":"x"})");
  EXPECT_EQ(job.text("worker_id"), "w1");
  EXPECT_EQ(job.text("tenant"), "default");
  EXPECT_TRUE(job.object().contains("started_at"));
  EXPECT_FALSE(job.object().contains("finished_at"));
}

TEST_F(JobsApi, AJobHasStartedWhenItsWorkerFirstTellsOfIt) {
  worker("w1");
  std::string job = post("/api/v1/jobs", R"({"prompt":"hello"})").text("job_id");
  int64_t handed_over = get("/api/v1/jobs/" + job).body.at("started_at").as_int64();
  loop_.run_for(2s);
  job::cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("w1");
  packet.mutable_job_progress()->set_job_id(job);
  (void)bus_->publish("sys.job.progress", job::serialise(packet), {});
  loop_.run_ready();
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("started_at").as_int64(), handed_over + 2'000'000);
}

TEST_F(JobsApi, SubmitWarnsWhenNothingCanTakeTheJobNow) {
  Answered answer = post("/api/v1/jobs", R"({"prompt":"hello"})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.at("warnings").at(0).at("code"), "no_workers");
}

TEST_F(JobsApi, SubmitWarnsWhenNoPoolOffersWhatTheJobRequires) {
  Answered answer =
      post("/api/v1/jobs", R"({"prompt":"p","topic":"job.train","requires":["tpu"]})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.at("warnings").at(0).at("code"), "no_pool_mapping");
}

TEST_F(JobsApi, SubmitOfAnUnknownTopicNamesTheKnownOnesAndStoresNothing) {
  Answered answer = post("/api/v1/jobs", R"({"prompt":"p","topic":"job.nope"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.text("code"), "unknown_topic");
  EXPECT_EQ(json::serialize(answer.body.at("registered_topics")), R"(["job.default","job.train"])");
  EXPECT_TRUE(store_.all().empty());
}

TEST_F(JobsApi, SubmitSaysWhatIsWrongWhereAndWhatWouldBeRight) {
  struct Case {
    std::string body, says;
  };
  for (const Case& wrong : std::vector<Case>{
           {"{", "the body is no JSON"},
           {"[]", "the body is a list, must be an object"},
           {"{}", "prompt has 0 characters, must have 1 to 50000"},
           {R"({"prompt":1})", "prompt is a number, must be a text"},
           {R"({"prompt":"p","topic":"x"})", "topic is \"x\", must be"},
           {R"({"prompt":"p","topic":"job..a"})", "topic is"},
           {R"({"prompt":"p","labels":[]})", "labels is a list, must be an object of texts"},
           {R"({"prompt":"p","labels":{"_ma.x":"1"}})", "labels._ma.x is set by the server only"},
           {R"({"prompt":"p","actor_type":"cat"})", "actor_type is \"cat\", must be human"},
           {R"({"prompt":"p","deadline_ms":-1})", "deadline_ms is -1, must be from 0"},
           {R"({"prompt":"p","max_input_tokens":1.5})", "max_input_tokens is 1.5E0, must be"},
           {R"({"prompt":"p","tags":[1]})", "tags[0] is a number, must be a text"},
           {R"({"prompt":"p","context_mode":"x"})", "context_mode is \"x\", must be raw"}}) {
    Answered answer = post("/api/v1/jobs", wrong.body);
    EXPECT_EQ(answer.status, 400) << wrong.body;
    EXPECT_NE(answer.text("error").find(wrong.says), std::string::npos) << answer.text("error");
  }
  EXPECT_TRUE(store_.all().empty());
}

TEST_F(JobsApi, AContextMayHaveManyValuesAndOtherFieldsOnlyAsManyAsTheyNeed) {
  std::string many = "[0";
  for (size_t i = 0; i < limits::kJsonValuesMax; ++i) many += ",0";
  many += "]";
  const std::string body = R"({"prompt":"p","context":)" + many + "}";
  std::string job = submit_job(body);
  std::string stored = run_answer(store_.blob(context_key(job)))->bytes;
  EXPECT_TRUE(stored.ends_with(R"("context":)" + many + "}"));
  EXPECT_EQ(post("/api/v1/jobs/explain-placement", body).status, 200);
  Answered refused = post("/api/v1/jobs", R"({"prompt":"p","junk":)" + many + "}");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.text("error").find("must have at most 20000"), std::string::npos);
}

TEST_F(JobsApi, AContextIsKeptAsItWasWrittenButForBlanksAndEscapes) {
  std::string job = submit_job(
      R"({"prompt":"p", "context": {"n": 12345678901234567890123, "s": "a\/b c", "f": 1.50}})");
  std::string stored = run_answer(store_.blob(context_key(job)))->bytes;
  EXPECT_TRUE(stored.ends_with(R"("context":{"n":12345678901234567890123,"s":"a/b c","f":1.50}})"))
      << stored;
  EXPECT_EQ(post("/api/v1/jobs", R"({"prompt":"p","context":1,"context":2})").status, 400);
}

TEST_F(JobsApi, DeepJsonIsRefusedAndNotFollowed) {
  std::string deep = R"({"prompt":"p","context":)" + std::string(100'000, '[') + "}";
  EXPECT_EQ(post("/api/v1/jobs", deep).status, 400);
}

TEST_F(JobsApi, ARepeatedIdempotencyKeyIsAnsweredWithTheFirstJob) {
  Pairs key{{"idempotency-key", "k"}};
  Answered first = post("/api/v1/jobs", R"({"prompt":"a"})", key);
  Answered again = post("/api/v1/jobs", R"({"prompt":"a"})", key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text("job_id"), first.text("job_id"));
  EXPECT_EQ(again.text("trace_id"), first.text("trace_id"));
  EXPECT_EQ(store_.all().size(), 1u);

  Answered in_body = post("/api/v1/jobs", R"({"prompt":"a","idempotency_key":"k"})");
  EXPECT_EQ(in_body.text("job_id"), first.text("job_id"));
  Answered other = post("/api/v1/jobs", R"({"prompt":"a","idempotency_key":"k","tenant_id":"t"})");
  EXPECT_NE(other.text("job_id"), first.text("job_id"));
}

TEST_F(JobsApi, ARepeatedKeyIsAnsweredWithTheFirstJobAlsoWhenItsTopicIsDisabledOrGone) {
  const std::string careful = R"({"name":"job.careful","pool":"gpu","risk_tags":["money"]})";
  ASSERT_EQ(post("/api/v1/topics", careful).status, 201);
  Pairs key{{"idempotency-key", "k"}};
  const std::string body = R"({"prompt":"a","topic":"job.careful"})";
  Answered first = post("/api/v1/jobs", body, key);
  ASSERT_EQ(first.status, 200);
  auto replayed = [&](const char* when) {
    Answered again = post("/api/v1/jobs", body, key);
    EXPECT_EQ(again.status, 200) << when;
    EXPECT_EQ(again.text("job_id"), first.text("job_id")) << when;
    EXPECT_EQ(again.text("trace_id"), first.text("trace_id")) << when;
    EXPECT_EQ(json::serialize(again.body).find("idempotency_mismatch"), std::string::npos) << when;
  };
  replayed("active");
  std::string disabled = careful;
  disabled.insert(disabled.size() - 1, R"(,"status":"disabled")");
  ASSERT_EQ(post("/api/v1/topics", disabled).status, 200);
  replayed("disabled");
  EXPECT_EQ(post("/api/v1/jobs", body).text("code"), "topic_disabled");
  ASSERT_EQ(call(Method::kDelete, "/api/v1/topics/job.careful").status, 204);
  replayed("deleted");
  EXPECT_EQ(post("/api/v1/jobs", body).text("code"), "unknown_topic");
  EXPECT_EQ(store_.all().size(), 1u);
}

TEST_F(JobsApi, ARepeatedKeyWithOtherContentSaysSoAndChangesNothing) {
  Pairs key{{"idempotency-key", "k"}};
  std::string first = submit_job(R"({"prompt":"a","labels":{"v":"1"}})", key);
  Answered again = post("/api/v1/jobs", R"({"prompt":"b","labels":{"v":"2"}})", key);
  EXPECT_EQ(again.text("job_id"), first);
  json::array warnings = again.body.at("warnings").as_array();
  EXPECT_EQ(warnings.back().at("code"), "idempotency_mismatch");
  EXPECT_EQ(get("/api/v1/jobs/" + first).body.at("context").at("prompt"), "a");
}

TEST_F(JobsApi, AKeyWhoseJobIsNoLongerKeptHasNothingToReplay) {
  std::string job = submit_job(R"({"prompt":"a"})", {{"idempotency-key", "k"}});
  ASSERT_EQ(post("/api/v1/jobs/" + job + "/cancel").status, 200);
  (void)run_answer(store_.retire(clock_.wall() + limits::kEndedJobTtl + 1s, 100));
  Answered again = post("/api/v1/jobs", R"({"prompt":"a"})", {{"idempotency-key", "k"}});
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.text("code"), "IDEMPOTENCY_CONFLICT");
}

TEST_F(JobsApi, KeysThatDifferInBodyAndHeaderAreRefused) {
  Answered answer =
      post("/api/v1/jobs", R"({"prompt":"a","idempotency_key":"x"})", {{"idempotency-key", "y"}});
  EXPECT_EQ(answer.status, 400);
}

TEST_F(JobsApi, ADeniedJobIsStoredAndAnsweredWith403) {
  gate_.deny(Topic("job.default"), "no such work here");
  Answered answer = post("/api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.text("code"), "policy_denied");
  EXPECT_EQ(answer.text("error"), "no such work here");
  EXPECT_EQ(state_of(answer.text("job_id")), "DENIED");
}

TEST_F(JobsApi, AJobThatNeedsApprovalSaysSo) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kRequireApproval;
  decision.reason = "a person must look";
  gate_.decide(Topic("job.default"), decision);
  Answered answer = post("/api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.text("status"), "approval_required");
  EXPECT_EQ(answer.text("reason"), "a person must look");
  EXPECT_FALSE(answer.header("X-Trace-Id").empty());
}

TEST_F(JobsApi, ASecretReferenceMarksTheJob) {
  std::string job = submit_job(R"({"prompt":"p","context":{"key":"secret://vault/x"}})");
  Answered answer = get("/api/v1/jobs/" + job);
  EXPECT_EQ(json::serialize(answer.body.at("risk_tags")), R"(["secrets"])");
  EXPECT_EQ(answer.body.at("labels").at("secrets_present"), "true");
  job = submit_job(R"({"prompt":"p","context":{"key":"\u0073ecret:\/\/vault\/x"}})");
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("labels").at("secrets_present"), "true");
}

TEST_F(JobsApi, ATenantSubmitsAndSeesOnlyItsOwn) {
  std::string foreign = submit_job(R"({"prompt":"p","tenant_id":"globex"})");
  caller_ = {TenantId("acme"), false, Role::kAdmin, {}};
  EXPECT_EQ(post("/api/v1/jobs", R"({"prompt":"p","tenant_id":"globex"})").status, 403);
  std::string own = submit_job();
  EXPECT_EQ(get("/api/v1/jobs/" + own).text("tenant"), "acme");
  EXPECT_EQ(get("/api/v1/jobs/" + foreign).status, 403);
  EXPECT_EQ(post("/api/v1/jobs/" + foreign + "/cancel").status, 403);
  EXPECT_EQ(get("/api/v1/jobs").items().size(), 1u);
  EXPECT_EQ(get("/api/v1/jobs?tenant=globex").status, 403);
}

TEST_F(JobsApi, CancelEndsAJobOnce) {
  worker("w1");
  std::string job = submit_job();
  Answered cancelled = post("/api/v1/jobs/" + job + "/cancel", R"({"reason":"enough"})");
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(cancelled.text("state"), "CANCELLED");
  EXPECT_EQ(state_of(job), "CANCELLED");
  Answered again = post("/api/v1/jobs/" + job + "/cancel", "");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text("reason"), "job already terminal");
  Answered unknown = post("/api/v1/jobs/nope/cancel");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.text("code"), "job_not_found");
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/cancel", R"({"why":"x"})").status, 400);
}

TEST_F(JobsApi, BulkCancelNamesFirstAndThenEndsWhatTheFilterTakes) {
  std::string one = submit_job(R"({"prompt":"p","team_id":"red"})");
  std::string two = submit_job(R"({"prompt":"p","team_id":"red"})");
  std::string other = submit_job(R"({"prompt":"p","team_id":"blue"})");
  std::string filter = R"({"filter":{"team":"red","state":"pending"})";
  Answered dry = post("/api/v1/jobs/cancel", filter + R"(,"dry_run":true})");
  EXPECT_EQ(dry.status, 200);
  EXPECT_EQ(dry.body.at("matched"), 2);
  EXPECT_EQ(dry.body.at("cancelled"), 0);
  EXPECT_EQ(state_of(one), "PENDING");

  Answered bounded = post("/api/v1/jobs/cancel", filter + R"(,"max":1})");
  EXPECT_EQ(bounded.body.at("cancelled"), 1);
  EXPECT_EQ(bounded.body.at("more"), true);
  Answered rest = post("/api/v1/jobs/cancel", filter + "}");
  EXPECT_EQ(rest.body.at("cancelled"), 1);
  EXPECT_EQ(rest.body.at("more"), false);
  EXPECT_EQ(state_of(one), "CANCELLED");
  EXPECT_EQ(state_of(two), "CANCELLED");
  EXPECT_EQ(state_of(other), "PENDING");
  EXPECT_EQ(post("/api/v1/jobs/cancel", "{}").status, 400) << "every job, by accident";
  Answered ended = post("/api/v1/jobs/cancel", R"({"filter":{"state":"cancelled"}})");
  EXPECT_EQ(ended.body.at("matched"), 0) << "what has ended stays as it is, and the rest too";
  EXPECT_EQ(state_of(other), "PENDING");
}

TEST_F(JobsApi, AViewerReadsAndAnOperatorWrites) {
  caller_.role = Role::kViewer;
  Answered refused = post("/api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.text("required"), "operator");
  EXPECT_EQ(get("/api/v1/jobs").status, 200);
  caller_.role = Role::kOperator;
  EXPECT_EQ(post("/api/v1/jobs", R"({"prompt":"p"})").status, 200);
}

TEST_F(JobsApi, UnknownPathsAndMethodsAreToldApart) {
  EXPECT_EQ(get("/api/v1/nope").status, 404);
  Answered wrong = call(Method::kDelete, "/api/v1/jobs");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_NE(wrong.header("Allow").find("POST"), std::string::npos);
  EXPECT_EQ(get("/api/v1/jobs/%zz").status, 400);
  EXPECT_EQ(get("/api/v1/jobs/%ff").status, 400);
}

TEST_F(JobsApi, PromptAndContextAreLabelsForPolicyToLookAtWhileTheyAreShort) {
  std::string job = submit_job(R"({"prompt":"hello","context":{"n":1}})");
  json::value labels = get("/api/v1/jobs/" + job).body.at("labels");
  EXPECT_EQ(labels.at("_content.prompt"), "hello");
  EXPECT_EQ(labels.at("_content.payload_json"), R"({"n":1})");
  std::string longer(limits::kContentLabelBytesMax, 'x');
  job = submit_job(R"({"prompt":"p","context":")" + longer + "\"}");
  labels = get("/api/v1/jobs/" + job).body.at("labels");
  EXPECT_FALSE(labels.as_object().contains("_content.payload_json"));
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("context").at("context").as_string().size(),
            longer.size());
}

TEST_F(JobsApi, ABoundKeySpeaksForItsPrincipalOnly) {
  caller_.principal = "bob";
  caller_.principal_bound = true;
  Answered other = post("/api/v1/jobs", R"({"prompt":"p","principal_id":"alice"})");
  EXPECT_EQ(other.status, 403);
  EXPECT_EQ(other.text("code"), "principal_access_denied");
  std::string own = submit_job(R"({"prompt":"p","principal_id":"bob"})");
  EXPECT_EQ(get("/api/v1/jobs/" + own).text("principal"), "bob");
  caller_.principal_bound = false;
  std::string free = submit_job(R"({"prompt":"p","principal_id":"alice"})");
  EXPECT_EQ(get("/api/v1/jobs/" + free).text("principal"), "alice");
}

TEST_F(JobsApi, AJobHasWhatItsTopicDemands) {
  ASSERT_EQ(post("/api/v1/topics", R"({"name":"job.careful","pools":["default","gpu"],
      "requires":["cuda"],"risk_tags":["money"]})")
                .status,
            201);
  worker("plain");
  worker("fit", "gpu");
  std::string job = submit_job(R"({"prompt":"p","topic":"job.careful","requires":["cuda"]})");
  Answered detail = get("/api/v1/jobs/" + job);
  EXPECT_EQ(json::serialize(detail.body.at("requires")), R"(["cuda"])");
  EXPECT_EQ(json::serialize(detail.body.at("risk_tags")), R"(["money"])");
  EXPECT_EQ(detail.text("worker_id"), "fit");
  Answered dry = post("/api/v1/jobs/explain-placement", R"({"topic":"job.careful"})");
  EXPECT_EQ(dry.body.at("chosen").at("worker_id"), "fit");
}

TEST_F(JobsApi, AKeyThatABusSubmitHoldsIsAnsweredWithItsJob) {
  cordum::agent::v1::BusPacket packet;
  packet.mutable_job_request()->set_job_id("from-the-bus");
  packet.mutable_job_request()->set_topic("job.default");
  packet.mutable_job_request()->mutable_meta()->set_idempotency_key("k");
  publish(bus::kSubmitSubject, packet);
  ASSERT_EQ(state_of("from-the-bus"), "PENDING");
  Answered replay = post("/api/v1/jobs", R"({"prompt":"a"})", {{"idempotency-key", "k"}});
  EXPECT_EQ(replay.status, 200);
  EXPECT_EQ(replay.text("job_id"), "from-the-bus");
  EXPECT_EQ(store_.all().size(), 1u);
  std::string own = named_uuid("job\ndefault\nk");
  EXPECT_FALSE(run_answer(store_.blob(context_key(own)))) << "the context of no job";
  ASSERT_EQ(
      post("/api/v1/topics", R"({"name":"job.default","pool":"gpu","status":"disabled"})").status,
      200);
  replay = post("/api/v1/jobs", R"({"prompt":"a"})", {{"idempotency-key", "k"}});
  EXPECT_EQ(replay.text("job_id"), "from-the-bus") << "also when its topic is disabled";
}

TEST_F(JobsApi, AThrottledJobIsToldToComeBackAndNothingIsStored) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kThrottle;
  decision.reason = "too many today";
  gate_.decide(Topic("job.default"), decision);
  Answered later = post("/api/v1/jobs", R"({"prompt":"p"})", {{"idempotency-key", "k"}});
  EXPECT_EQ(later.status, 429);
  EXPECT_EQ(later.header("Retry-After"), "30");
  EXPECT_EQ(later.text("error"), "too many today");
  EXPECT_TRUE(store_.all().empty());
  gate_.decide(Topic("job.default"), {.kind = job::Decision::Kind::kAllow});
  EXPECT_EQ(post("/api/v1/jobs", R"({"prompt":"p"})", {{"idempotency-key", "k"}}).status, 200);
}

TEST_F(JobsApi, ACancelSaysWhyAndTellsWhoeverWaitsForAResult) {
  std::vector<cordum::agent::v1::JobResult> results;
  auto take = [&](bus::Delivery delivery) -> Task<bus::Verdict> {
    cordum::agent::v1::BusPacket packet;
    packet.ParseFromString(delivery.payload);
    results.push_back(packet.job_result());
    co_return bus::Verdict::ack();
  };
  auto listening = bus_->subscribe(std::string(bus::kResultSubject), {}, take);
  worker("w1");
  std::string job = submit_job();
  ASSERT_EQ(post("/api/v1/jobs/" + job + "/cancel", R"({"reason":"enough"})").status, 200);
  loop_.run_ready();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].job_id(), job);
  EXPECT_EQ(results[0].status(), cordum::agent::v1::JOB_STATUS_CANCELLED);
  EXPECT_EQ(results[0].worker_id(), "w1");
  EXPECT_EQ(results[0].error_message(), "enough");
  EXPECT_EQ(get("/api/v1/jobs/" + job).text("failure_reason"), "enough");
  Answered timeline = get("/api/v1/jobs/" + job + "/timeline");
  EXPECT_EQ(timeline.items().back().at("reason"), "enough");
  EXPECT_EQ(get("/api/v1/jobs").items()[0].at("failure_reason"), "enough");
}

}  // namespace
}  // namespace fairlead::http
