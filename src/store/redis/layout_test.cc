// The exact keys, types, encodings and times to live that a job leaves in Redis.
#include <map>

#include <gmock/gmock.h>

#include "base/breaker.h"
#include "store/redis/places.h"
#include "store/redis/store_walk_fixture.h"

namespace fairlead::store::redis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;
using testing::UnorderedElementsAre;
using Words = cluster::RedisServerProcess::Words;

constexpr int64_t kDay = 24 * 3600;

class Layout : public WalkTest {
 protected:
  std::map<std::string, std::string> keys() {
    std::map<std::string, std::string> types;
    for (const std::string& key : server().ask({"KEYS", "*"}).texts()) {
      types[key] = server().text({"TYPE", key});
    }
    EXPECT_EQ(types.extract("fairlead:server").mapped(), "hash");
    return types;
  }
  std::map<std::string, std::string> hash(const std::string& key) {
    std::map<std::string, std::string> fields;
    Words words = server().ask({"HGETALL", key}).texts();
    for (size_t i = 0; i + 1 < words.size(); i += 2) fields[words[i]] = words[i + 1];
    return fields;
  }
  // Without what is ours and binary.
  std::map<std::string, std::string> readable_hash(const std::string& key) {
    auto fields = hash(key);
    for (const char* name : {"fl_rec", "fl_req", "fl_places"}) {
      EXPECT_NE(fields[name], "");
      fields.erase(name);
    }
    return fields;
  }
  int64_t ttl(const std::string& key) { return server().number({"TTL", key}); }
  std::string time(Duration later = Duration(0)) {
    return std::to_string(to_micros(begun_ + later));
  }

  const WallTime begun_ = clock_.wall();
};

TEST_F(Layout, OfADispatchedJob) {
  apply<Applied>(dispatch(request("a")));
  EXPECT_EQ(keys(), (std::map<std::string, std::string>{
                        {"job:meta:a", "hash"},
                        {"job:state:a", "string"},
                        {"job:req:a", "string"},
                        {"job:events:a", "list"},
                        {"job:decisions:a", "list"},
                        {"job:index:dispatched", "zset"},
                        {"job:recent", "zset"},
                        {"job:deadline", "zset"},
                        {"job:tenant:active:acme", "set"},
                        {"job:idempotency:acme:key-a", "string"},
                        {"trace:trace", "set"},
                        {"fairlead:slots:tenant:acme", "set"},
                        {"fairlead:slots:worker:w", "zset"},
                        {"fairlead:due", "zset"},
                        {"fairlead:unpublished", "zset"},
                    }));
  std::map<std::string, std::string> fields = {
      {"state", "DISPATCHED"},
      {"updated_at", time()},
      {"attempts", "1"},
      {"topic", "job.test"},
      {"tenant", "acme"},
      {"team", "blue"},
      {"principal", "ada"},
      {"memory_id", "m"},
      {"actor_id", "ada"},
      {"idempotency_key", "key-a"},
      {"capability", "sum"},
      {"risk_tags", R"(["low"])"},
      {"requires", R"(["gpu"])"},
      {"labels", R"({"colour":"red"})"},
      {"trace_id", "trace"},
      {"deadline_unix", time(60s)},
      {"worker_id", "w"},
      {"safety_decision", "ALLOW"},
      {"safety_reason", ""},
      {"safety_rule_id", ""},
      {"safety_snapshot", ""},
      {"safety_approval_ref", ""},
      {"safety_approval_required", ""},
      {"safety_checked_at", time()},
      {"fl_rev", "1"},
      {"fl_seen", "DISPATCHED|" + time() + "|"},
      {"fl_created", time()},
  };
  EXPECT_EQ(readable_hash("job:meta:a"), fields);
  EXPECT_EQ(hash("job:meta:a")["fl_req"], request("a").SerializeAsString());
  Places places = Places::unpack(hash("job:meta:a")["fl_places"]);
  EXPECT_EQ(places.tenant, "acme");
  EXPECT_EQ(places.worker, "w");
  EXPECT_EQ(places.worker_at, time());
  EXPECT_EQ(places.wait_class, "");
  EXPECT_EQ(places.due, time(5min));
  EXPECT_EQ(places.unpublished, time());
  EXPECT_EQ(server().text({"GET", "job:state:a"}), "DISPATCHED");
  auto event = [&](const char* state) {
    return R"({"ts":)" + time() + R"(,"state":")" + state + "\"}";
  };
  EXPECT_THAT(server().ask({"LRANGE", "job:events:a", "0", "-1"}).texts(),
              ElementsAre(event("PENDING"), event("SCHEDULED"), event("DISPATCHED")));
  for (const char* set :
       {"job:index:dispatched", "job:recent", "fairlead:slots:worker:w", "fairlead:unpublished"}) {
    EXPECT_THAT(server().ask({"ZRANGE", set, "0", "-1", "WITHSCORES"}).texts(),
                ElementsAre("a", time()))
        << set;
  }
  EXPECT_EQ(server().text({"ZSCORE", "job:deadline", "a"}), time(60s));
  EXPECT_EQ(server().text({"ZSCORE", "fairlead:due", "a"}), time(5min));
  for (const char* set : {"job:tenant:active:acme", "trace:trace", "fairlead:slots:tenant:acme"}) {
    EXPECT_THAT(server().ask({"SMEMBERS", set}).texts(), ElementsAre("a")) << set;
  }
  EXPECT_EQ(server().text({"GET", "job:idempotency:acme:key-a"}), "a");
  EXPECT_THAT(ttl("job:idempotency:acme:key-a"), AllOf(Le(90 * kDay), Ge(90 * kDay - 60)));
  // A live job does not expire.
  for (const char* key : {"job:meta:a", "job:state:a", "job:events:a"}) {
    EXPECT_EQ(ttl(key), -1) << key;
  }
  // Of its request only the Go services' form does.
  EXPECT_THAT(ttl("job:req:a"), AllOf(Ge(7 * kDay), Le(7 * kDay + 3600)));
}

TEST_F(Layout, OfARequest) {
  apply<Applied>(dispatch(request("a")));
  EXPECT_EQ(
      server().text({"GET", "job:req:a"}),
      R"({"jobId":"a","topic":"job.test","priority":"JOB_PRIORITY_UNSPECIFIED",)"
      R"("contextPtr":"redis://ctx:a","adapterId":"","env":{"team_id":"blue"},"parentJobId":"",)"
      R"("workflowId":"","stepIndex":0,"memoryId":"m","contextHints":null,)"
      R"("budget":{"maxInputTokens":"0","maxOutputTokens":"0","maxTotalTokens":"0",)"
      R"("deadlineMs":"60000"},"tenantId":"acme","principalId":"ada","labels":{"colour":"red"},)"
      R"("meta":{"tenantId":"","actorId":"","actorType":"ACTOR_TYPE_UNSPECIFIED",)"
      R"("idempotencyKey":"key-a","capability":"sum","riskTags":["low"],"requires":["gpu"],)"
      R"("packId":"","labels":{}},"compensation":null,"identity":null,"dispatch":null,)"
      R"("contextRef":null})");
}

TEST_F(Layout, OfAnEndedJob) {
  Snapshot record = apply<Applied>(dispatch(request("a"))).record;
  record = apply<Applied>(run(*record)).record;
  apply<Applied>(succeed(*record));
  EXPECT_EQ(keys(), (std::map<std::string, std::string>{
                        {"job:meta:a", "hash"},
                        {"job:state:a", "string"},
                        {"job:req:a", "string"},
                        {"job:events:a", "list"},
                        {"job:decisions:a", "list"},
                        {"job:result_ptr:a", "string"},
                        {"job:index:succeeded", "zset"},
                        {"job:recent", "zset"},
                        {"job:idempotency:acme:key-a", "string"},
                        {"trace:trace", "set"},
                        {"worker:jobs:w", "zset"},
                    }));
  auto fields = readable_hash("job:meta:a");
  EXPECT_EQ(fields["state"], "SUCCEEDED");
  EXPECT_EQ(fields["updated_at"], time(2s));
  EXPECT_EQ(fields["result_ptr"], "redis://res:a");
  EXPECT_EQ(fields["fl_rev"], "3");
  EXPECT_FALSE(fields.contains("deadline_unix"));
  EXPECT_EQ(server().text({"GET", "job:state:a"}), "SUCCEEDED");
  EXPECT_EQ(server().text({"GET", "job:result_ptr:a"}), "redis://res:a");
  EXPECT_EQ(server().number({"LLEN", "job:events:a"}), 5);
  for (const char* set : {"job:index:succeeded", "job:recent", "worker:jobs:w"}) {
    EXPECT_EQ(server().text({"ZSCORE", set, "a"}), time(2s)) << set;
  }
  for (const char* key :
       {"job:meta:a", "job:state:a", "job:req:a", "job:result_ptr:a", "worker:jobs:w"}) {
    EXPECT_THAT(ttl(key), AllOf(Ge(7 * kDay), Le(7 * kDay + 3600))) << key;
  }
}

TEST_F(Layout, NothingIsLeftOfAJobThatIsRetired) {
  clock_.advance(1us);
  Snapshot record = apply<Applied>(dispatch(request("a"))).record;
  record = apply<Applied>(run(*record)).record;
  apply<Applied>(succeed(*record));
  EXPECT_EQ(server().number({"ZCARD", "worker:jobs:w"}), 1);
  clock_.advance(limits::kEndedJobTtl + 1s);
  get(store_->retire(clock_.wall(), 10));
  EXPECT_EQ(keys(), (std::map<std::string, std::string>{{"job:idempotency:acme:key-a", "string"}}));
}

TEST_F(Layout, OfADeadLetter) {
  Snapshot record = apply<Applied>(dispatch(request("a"))).record;
  Change failed = follow(*record, State::kFailed);
  failed.next->error_message = "it \"broke\"";
  failed.dead_letter = DeadLetter{JobId("a"),
                                  Topic("job.test"),
                                  TenantId("acme"),
                                  "JOB_STATUS_FAILED",
                                  "it \"broke\"",
                                  "no_workers",
                                  "DISPATCHED",
                                  3,
                                  wall_time_from_micros(1'700'000'000'250'000)};
  apply<Applied>(std::move(failed));
  EXPECT_EQ(server().text({"GET", "dlq:entry:a"}),
            R"({"job_id":"a","topic":"job.test","status":"JOB_STATUS_FAILED",)"
            R"("reason":"it \"broke\"","reason_code":"no_workers","last_state":"DISPATCHED",)"
            R"("attempts":3,"created_at":"2023-11-14T22:13:20.250Z","tenant":"acme"})");
  EXPECT_EQ(server().text({"ZSCORE", "dlq:index", "a"}), "1700000000.25");
  EXPECT_THAT(ttl("dlq:entry:a"), AllOf(Le(30 * kDay), Ge(30 * kDay - 60)));
  EXPECT_EQ(hash("job:meta:a")["failure_reason"], "it \"broke\"");
}

TEST_F(Layout, OfAJobThatNeedsApproval) {
  Change change = dispatch(request("a"));
  change.path = {State::kPending, State::kApprovalRequired};
  change.next->state = State::kApprovalRequired;
  change.next->decision.kind = job::Decision::Kind::kRequireApproval;
  apply<Applied>(std::move(change));
  auto fields = hash("job:meta:a");
  EXPECT_EQ(fields["safety_approval_required"], "true");
  EXPECT_EQ(fields["safety_job_hash"], job::job_hash(request("a")));
  EXPECT_EQ(fields["approval_status"], "pending");
  EXPECT_EQ(fields["approval_actionability"], "actionable");
  EXPECT_EQ(fields["approval_revision"], "1");
}

// Whoever approves compares it with what was judged, and may take weeks to do so.
TEST_F(Layout, TheRequestOfAJobThatWaitsForApprovalDoesNotExpire) {
  constexpr int64_t kNever = -1;
  auto park = [](Change change) {
    change.path.back() = State::kApprovalRequired;
    change.next->state = State::kApprovalRequired;
    change.next->decision.kind = job::Decision::Kind::kRequireApproval;
    change.next->assignee = WorkerId();
    change.next->publish_pending = false;
    return change;
  };
  Change at_once = dispatch(request("a"));
  at_once.path = {State::kPending, State::kApprovalRequired};
  apply<Applied>(park(std::move(at_once)));
  EXPECT_EQ(ttl("job:req:a"), kNever);

  Change admits = dispatch(request("b"));
  admits.path = {State::kPending};
  admits.next->state = State::kPending;
  admits.next->assignee = WorkerId();
  admits.next->publish_pending = false;
  Snapshot record = apply<Applied>(std::move(admits)).record;
  EXPECT_GT(ttl("job:req:b"), 0);
  record = apply<Applied>(park(follow(*record, State::kApprovalRequired))).record;
  EXPECT_EQ(ttl("job:req:b"), kNever);
  apply<Applied>(follow(*record, State::kDenied));
  EXPECT_THAT(ttl("job:req:b"), AllOf(Ge(7 * kDay), Le(7 * kDay + 3600)));
}

TEST_F(Layout, OfEveryDecisionOnce) {
  Change change = dispatch(request("a"));
  change.path = {State::kPending, State::kApprovalRequired};
  change.next->state = State::kApprovalRequired;
  change.next->publish_pending = false;
  change.next->decision.kind = job::Decision::Kind::kRequireApproval;
  change.next->decision.reason = "it \"costs\"";
  change.next->decision.rule_id = "rule";
  change.next->decision.policy_snapshot = "v1";
  Snapshot record = apply<Applied>(std::move(change)).record;
  auto decisions = [&] { return server().ask({"LRANGE", "job:decisions:a", "0", "-1"}).texts(); };
  const std::string hash = job::job_hash(request("a"));
  const std::string first =
      R"({"decision":"REQUIRE_APPROVAL","reason":"it \"costs\"","rule_id":"rule",)"
      R"("policy_snapshot":"v1","constraints":null,"remediations":null,"approval_required":true,)"
      R"("approval_ref":"a","job_hash":")" +
      hash + R"(","checked_at":)" + time() + "}";
  EXPECT_THAT(decisions(), ElementsAre(first));
  EXPECT_THAT(ttl("job:decisions:a"), AllOf(Ge(7 * kDay), Le(7 * kDay + 3600)));

  // It is approved, judged once more and dispatched; then it runs by that decision.
  record = apply<Applied>(follow(*record, State::kPending)).record;
  EXPECT_THAT(decisions(), ElementsAre(first));
  change = follow(*record, State::kScheduled);
  change.path = {State::kScheduled, State::kDispatched};
  change.next->state = State::kDispatched;
  change.next->dispatched_at = clock_.wall();
  change.next->decision = {.kind = job::Decision::Kind::kAllowWithConstraints,
                           .constraints = cap::PolicyConstraints().SerializeAsString(),
                           .checked_at = clock_.wall()};
  record = apply<Applied>(std::move(change)).record;
  record = apply<Applied>(run(*record)).record;
  apply<Applied>(succeed(*record));
  ASSERT_EQ(decisions().size(), 2u);
  EXPECT_THAT(decisions().back(), testing::StartsWith(R"({"decision":"ALLOW_WITH_CONSTRAINTS",)"));
}

TEST_F(Layout, OfLeasesAndSignsOfLife) {
  get(store_->sign_of_life("host.n1"));
  EXPECT_THAT(server().number({"PTTL", "fairlead:alive:host.n1"}), AllOf(Le(4000), Ge(3000)));
  EXPECT_TRUE(get(store_->load(JobId("a"), {.lease = LeaseRequest{"host.n1.u", 60s}})).lease_taken);
  EXPECT_EQ(server().text({"GET", "cordum:scheduler:job:a"}), "host.n1.u");
  EXPECT_THAT(ttl("cordum:scheduler:job:a"), AllOf(Le(60), Ge(58)));
}

TEST_F(Layout, OfABlobIsAPlainText) {
  get(store_->put_blob("ctx:a", {"{}", clock_.wall() + 24h}, BlobCondition::kAlways));
  EXPECT_EQ(server().text({"GET", "ctx:a"}), "{}");
  EXPECT_THAT(ttl("ctx:a"), AllOf(Le(kDay), Ge(kDay - 60)));
}

TEST_F(Layout, HoldsAThousandRecentJobs) {
  std::vector<Answer<Receipt>> answers;
  for (int i = 0; i < 1010; ++i) {
    clock_.advance(1ms);
    Change change = dispatch(request(std::to_string(i)));
    change.worker_limit = change.tenant_limit = 0;
    answers.push_back(store_->apply(std::move(change)));
  }
  for (auto& answer : answers) get(std::move(answer));
  EXPECT_EQ(server().number({"ZCARD", "job:recent"}), 1000);
  EXPECT_EQ(server().text({"ZSCORE", "job:recent", "9"}), "");
  EXPECT_NE(server().text({"ZSCORE", "job:recent", "1009"}), "");
}

// What a job costs, from the submit that takes its lease to its end: the commands within scripts
// count as well. Two messages that a stream delivered are marked as handled: a command for each.
TEST_F(Layout, CostsFewRoundTripsAndCommands) {
  auto work = [&](const std::string& job, bool marked) {
    const std::string token = "host.n1." + job;
    clock_.advance(1us);  // what is done for every sixteenth
    get(store_->load(JobId(job), {.with_request = true, .lease = LeaseRequest{token, 60s}}));
    Change dispatches = dispatch(request(job), token);
    if (marked) dispatches.mark = "submit-" + job;
    Snapshot record = apply<Applied>(std::move(dispatches)).record;
    record = apply<Applied>(run(*record, token)).record;
    record = get(store_->load(JobId(job), {})).record;
    Change succeeds = succeed(*record);
    if (marked) succeeds.mark = "result-" + job;
    apply<Applied>(std::move(succeeds));
  };
  constexpr int kJobs = 50;
  auto cost_of = [&](bool marked) {
    const std::string name = marked ? "marked" : "plain";
    work(name, marked);
    server().ask({"CONFIG", "RESETSTAT"});
    for (int i = 0; i < kJobs; ++i) work(name + std::to_string(i), marked);
    const std::string statistics = server().text({"INFO", "commandstats"});
    std::map<std::string, int> calls;
    for (size_t at = 0; (at = statistics.find("cmdstat_", at)) != std::string::npos; ++at) {
      size_t colon = statistics.find(":calls=", at);
      calls[statistics.substr(at + 8, colon - at - 8)] = std::stoi(statistics.substr(colon + 7));
    }
    int all = 0;
    std::string shown;
    for (const auto& [command, count] : calls) {
      if (command.starts_with("config") || command == "info") continue;
      all += count;
      shown += command + " " + std::to_string(double(count) / kJobs) + "  ";
    }
    EXPECT_EQ(calls["evalsha"], 5 * kJobs);
    std::printf("%s: %.1f commands a job: %s\n", name.c_str(), double(all) / kJobs, shown.c_str());
    return all;
  };
  EXPECT_LE(cost_of(false), 57 * kJobs);
  EXPECT_LE(cost_of(true), 59 * kJobs);
}

TEST_F(Layout, TheWorkersAreCountedWhereTheGoServicesLook) {
  auto count = [&] { return server().number({"SCARD", "cordum:workers:count"}); };
  get(store_->put_workers({"{}", clock_.wall() + 24h}, {WorkerId("a"), WorkerId("b")}));
  EXPECT_EQ(count(), 2);
  EXPECT_NEAR(static_cast<double>(server().number({"TTL", "cordum:workers:count"})), 120, 2);
  EXPECT_EQ(server().text({"GET", "sys:workers:snapshot"}), "{}");
  get(store_->put_workers({"{}", clock_.wall() + 24h}, {WorkerId("c")}));
  EXPECT_EQ(count(), 1);
  std::vector<WorkerId> many;
  for (int i = 0; i < 12'000; ++i) many.emplace_back(std::to_string(i));
  get(store_->put_workers({"{}", clock_.wall() + 24h}, many));
  EXPECT_EQ(count(), 12'000);
  get(store_->put_workers({"{}", clock_.wall() + 24h}, {}));
  EXPECT_EQ(count(), 0);
}

TEST_F(Layout, ABreakerIsCountedAsTheGoServicesCount) {
  auto tell = [&](BreakerEvent event) {
    return get(store_->breaker("safety", event, clock_.wall()));
  };
  tell(BreakerEvent::kFailure);
  EXPECT_EQ(server().text({"GET", "cordum:cb:safety:failures"}), "1");
  for (int i = 0; i < 2; ++i) tell(BreakerEvent::kFailure);
  EXPECT_EQ(server().text({"GET", "cordum:cb:safety:failures"}), "3");
  EXPECT_GT(server().number({"PTTL", "cordum:cb:safety:failures"}), 29'000);
  clock_.advance(kBreakerOpenFor);
  advance_server(server(), kBreakerOpenFor);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(tell(BreakerEvent::kAsk).admitted);
    tell(BreakerEvent::kSuccess);
  }
  EXPECT_EQ(server().number({"EXISTS", "cordum:cb:safety:failures", "fairlead:cb:safety"}), 0);
  // What a Go service opened is open for us.
  server().ask({"SET", "cordum:cb:safety:failures", "3", "PX", "10000"});
  EXPECT_FALSE(tell(BreakerEvent::kAsk).admitted);
}

TEST_F(Layout, AMessageThatCameAgainIsMarkedWhileItIsHandledAndWhenItWas) {
  const std::string mark = "dur_q__s:CORDUM_SYS:7";
  get(store_->load(JobId("a"), {.mark = mark}));
  EXPECT_EQ(server().text({"GET", "cordum:bus:inflight:" + mark}), "1");
  EXPECT_NEAR(static_cast<double>(server().number({"TTL", "cordum:bus:inflight:" + mark})), 120, 2);
  Change change = dispatch(request("a"));
  change.mark = mark;
  change.was_in_flight = true;
  apply<Applied>(std::move(change));
  EXPECT_EQ(server().number({"EXISTS", "cordum:bus:inflight:" + mark}), 0);
  EXPECT_EQ(server().text({"GET", "cordum:bus:processed:" + mark}), "1");
  EXPECT_NEAR(static_cast<double>(server().number({"TTL", "cordum:bus:processed:" + mark})), 600,
              2);
}

}  // namespace
}  // namespace fairlead::store::redis
