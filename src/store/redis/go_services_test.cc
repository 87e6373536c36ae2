// Jobs that Go services wrote, and that they change beside us.
#include <algorithm>

#include "store/redis/go_services_fixture.h"
#include "store/redis/store_walk_fixture.h"

namespace fairlead::store::redis {
namespace {

class BesideGo : public WalkTest {
 protected:
  int64_t now() { return to_micros(clock_.wall()); }
  // What a submit on the bus would carry for a job that the gateway wrote.
  static cap::JobRequest submitted(const std::string& job) {
    cap::JobRequest request;
    request.set_job_id(job);
    request.set_topic("job.test");
    request.set_priority(cap::JOB_PRIORITY_BATCH);
    request.set_context_ptr("redis://ctx:" + job);
    (*request.mutable_env())["team_id"] = "blue";
    request.set_workflow_id("wf");
    request.set_step_index(3);
    request.mutable_budget()->set_max_output_tokens(9007199254740993);
    request.set_tenant_id("acme");
    request.set_principal_id("ada");
    (*request.mutable_labels())["colour"] = "red";
    return request;
  }
  std::vector<std::string> scan(Query query) {
    std::vector<std::string> ids;
    for (const job::Record& record : get(store_->scan(std::move(query))).records) {
      ids.push_back(record.id.str());
    }
    return ids;
  }
  using Ids = std::vector<std::string>;
  // As another replica sees it.
  Snapshot other_record(const std::string& job) {
    auto other = open();
    return get(other->load(JobId(job), {})).record;
  }

  GoServices go_{server()};
};

TEST_F(BesideGo, AJobOfTheGatewayIsLoadedFromItsFields) {
  go_.submit("a", now());
  clock_.advance(1s);
  Loaded loaded = get(store_->load(JobId("a"), {.with_request = true}));
  ASSERT_TRUE(loaded.record);
  const job::Record& record = *loaded.record;
  EXPECT_EQ(record.id, JobId("a"));
  EXPECT_EQ(record.state, State::kPending);
  EXPECT_EQ(record.revision, Revision(1));
  EXPECT_EQ(record.topic, Topic("job.test"));
  EXPECT_EQ(record.tenant, TenantId("acme"));
  EXPECT_EQ(record.team, "blue");
  EXPECT_EQ(record.principal, "ada");
  EXPECT_EQ(record.trace, TraceId("trace"));
  EXPECT_EQ(record.workflow_id, "wf");
  EXPECT_EQ(record.created_at, clock_.wall() - 1s);
  EXPECT_EQ(record.updated_at, clock_.wall() - 1s);
  ASSERT_EQ(record.history.size(), 1u);
  // A submit of the same job is known as the same.
  EXPECT_EQ(record.request_hash, job::job_hash(submitted("a")));
  cap::JobRequest request;
  ASSERT_TRUE(request.ParseFromString(loaded.request));
  EXPECT_EQ(job::serialise(request), job::serialise(submitted("a")));
}

TEST_F(BesideGo, AJobOfTheGatewayIsWalkedOn) {
  go_.submit("a", now());
  Snapshot record = load("a");
  Change change = dispatch(submitted("a"));
  change.guard.revision = record->revision;
  change.path = {State::kScheduled, State::kDispatched};
  change.request.reset();
  record = apply<Applied>(std::move(change)).record;
  EXPECT_EQ(record->revision, Revision(2));
  EXPECT_EQ(load("a")->state, State::kDispatched);
  EXPECT_EQ(server().text({"ZSCORE", "job:index:pending", "a"}), "");
  EXPECT_EQ(server().number({"SISMEMBER", "job:tenant:active:acme", "a"}), 1);
  EXPECT_EQ(server().number({"TTL", "job:meta:a"}), -1);
  EXPECT_EQ(server().number({"TTL", "job:req:a"}), -1);
  EXPECT_EQ(server().text({"HGET", "job:meta:a", "submitted_by"}), "apikey:01234567|principal:ada");
  cap::JobRequest request;
  ASSERT_TRUE(
      request.ParseFromString(get(store_->load(JobId("a"), {.with_request = true})).request));
  EXPECT_EQ(job::serialise(request), job::serialise(submitted("a")));
}

TEST_F(BesideGo, AJobOfTheGatewayIsFoundByEveryScan) {
  go_.submit("a", now());
  EXPECT_EQ(scan({.by = Query::By::kRecent}), Ids{"a"});
  EXPECT_EQ(scan({.by = Query::By::kState, .text = "PENDING"}), Ids{"a"});
  EXPECT_EQ(scan({.by = Query::By::kTrace, .text = "trace"}), Ids{"a"});
}

TEST_F(BesideGo, ARacingAdmissionConflictsWithTheGatewaysJob) {
  go_.submit("a", now());
  Conflict conflict = apply<Conflict>(dispatch(submitted("a")));
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(conflict.now->state, State::kPending);
}

TEST_F(BesideGo, EventsOfTheOldFormAreRead) {
  go_.submit("a", now());
  server().ask({"RPUSH", "job:events:a", std::to_string(now() + 5) + "|APPROVAL_REQUIRED"});
  server().ask({"RPUSH", "job:events:a", "nonsense"});
  server().ask({"RPUSH", "job:events:a",
                R"({"ts":7,"state":"RUNNING","ctx":{"worker_id":"w","duration_ms":3}})"});
  std::vector<job::Event> history = load("a")->history;
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[1].state, State::kApprovalRequired);
  EXPECT_EQ(to_micros(history[1].at), now() + 5);
  EXPECT_EQ(history[2].state, State::kRunning);
}

TEST_F(BesideGo, ACancelOfTheGatewayWinsOverAChangeOfWhatWasReadBefore) {
  Snapshot record = apply<Applied>(dispatch(request("a"))).record;
  clock_.advance(1s);
  go_.cancel("a", now());
  Conflict conflict = apply<Conflict>(run(*record));
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(conflict.now->state, State::kCancelled);
  EXPECT_EQ(conflict.now->revision, Revision(2));
  EXPECT_FALSE(conflict.now->publish_pending);
  EXPECT_EQ(load("a")->history.back().state, State::kCancelled);
}

TEST_F(BesideGo, EveryChangeOfAGoServiceIsARevision) {
  apply<Applied>(dispatch(request("a")));
  go_.set_state("a", "DISPATCHED", "RUNNING", now() + 1, "1|RUNNING");
  Snapshot record = load("a");
  EXPECT_EQ(record->state, State::kRunning);
  EXPECT_EQ(record->revision, Revision(2));
  EXPECT_EQ(load("a")->revision, Revision(2));
  // Once more, to the same state: only the time tells.
  go_.set_state("a", "RUNNING", "RUNNING", now() + 2, "2|RUNNING");
  EXPECT_EQ(apply<Conflict>(succeed(*record)).now->revision, Revision(3));
  apply<Applied>(succeed(*load("a")));
}

TEST_F(BesideGo, AJobThatAGoSchedulerHandedOutTakesItsWorkersResult) {
  go_.submit("a", now());
  go_.set_state("a", "PENDING", "DISPATCHED", now() + 1, "1|DISPATCHED");
  go_.set_state("a", "DISPATCHED", "RUNNING", now() + 2, "2|RUNNING");
  Snapshot record = load("a");
  EXPECT_EQ(record->epoch, Epoch(1));
  EXPECT_EQ(record->due, wall_time_from_micros(now() + 2) + limits::kRedisAdoptedRunningWait);
  apply<Applied>(succeed(*record));
  EXPECT_EQ(scan({.by = Query::By::kDue}), Ids{});
}

TEST_F(BesideGo, AJobOfOursThatAGoSchedulerHandsOutIsNoLongerWithOurWorker) {
  Snapshot record = apply<Applied>(dispatch(request("a"))).record;
  go_.set_state("a", "DISPATCHED", "RUNNING", now() + 1, "1|RUNNING");
  record = load("a");
  EXPECT_EQ(record->epoch, Epoch(1));
  EXPECT_EQ(record->assignee, WorkerId());
  EXPECT_EQ(server().number({"ZCARD", "fairlead:slots:worker:w"}), 0);
  EXPECT_EQ(server().number({"SCARD", "fairlead:slots:tenant:acme"}), 1);
  // Likewise once more, when only the time tells.
  go_.set_state("a", "RUNNING", "RUNNING", now() + 2, "2|RUNNING");
  record = load("a");
  EXPECT_EQ(record->assignee, WorkerId());
  apply<Applied>(succeed(*record));
  EXPECT_EQ(server().number({"SCARD", "fairlead:slots:tenant:acme"}), 0);
}

TEST_F(BesideGo, AWaitingJobThatAGoSchedulerHandedOutWaitsNoMore) {
  Change waits = dispatch(request("a"));
  waits.path = {State::kPending};
  waits.next->state = State::kPending;
  waits.next->epoch = Epoch();
  waits.next->publish_pending = false;
  waits.next->wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", clock_.wall()};
  apply<Applied>(std::move(waits));
  go_.set_state("a", "PENDING", "RUNNING", now() + 1, "1|RUNNING");
  EXPECT_TRUE(get(store_->claim({{"class"}, 10})).empty());
  Snapshot record = load("a");
  EXPECT_FALSE(record->wait);
  EXPECT_EQ(record->epoch, Epoch(1));
}

TEST_F(BesideGo, AJobOfTheGatewayThatNobodyWalksOnBecomesDue) {
  // Its submit got lost, and no handler ever saw it.
  go_.submit("a", now());
  go_.submit("b", now() + 1);
  clock_.advance(limits::kRedisAdoptedWait);
  EXPECT_EQ(scan({.by = Query::By::kDue}), Ids{});
  EXPECT_EQ(get(store_->retire(clock_.wall(), 100)), 1u);
  EXPECT_EQ(get(store_->retire(clock_.wall(), 100)), 0u);
  EXPECT_EQ(scan({.by = Query::By::kDue}), Ids{"a"});
  EXPECT_LE(*load("a")->due, clock_.wall());
}

TEST_F(BesideGo, ALiveJobThatAGoServiceGaveATimeToLiveDoesNotExpire) {
  apply<Applied>(dispatch(request("a")));
  server().ask({"EXPIRE", "job:meta:a", GoServices::kMetaTtl});
  clock_.advance(1h);
  get(store_->retire(clock_.wall(), 10));
  EXPECT_EQ(server().number({"TTL", "job:meta:a"}), -1);
}

TEST_F(BesideGo, SweepsGoThroughAllLiveJobsPieceByPiece) {
  for (int i = 0; i < 25; ++i) go_.submit(std::to_string(i), now() + i);
  server().ask({"DEL", "job:meta:7"});
  clock_.advance(1h);
  size_t noticed = 0;
  while (size_t some = get(store_->retire(clock_.wall(), 10))) noticed += some;
  EXPECT_EQ(noticed, 25u);
  EXPECT_EQ(server().number({"ZCARD", "job:index:pending"}), 24);
  EXPECT_EQ(server().number({"ZCARD", "fairlead:due"}), 24);
}

TEST_F(BesideGo, AJobThatEndedElsewhereHoldsNoSlotAndIsNotDue) {
  apply<Applied>(dispatch(request("a")));
  go_.succeed("a", now() + 1);
  EXPECT_EQ(scan({.by = Query::By::kWorker, .text = "w"}), Ids{});
  for (const char* set : {"fairlead:slots:worker:w", "fairlead:due", "fairlead:unpublished"}) {
    EXPECT_EQ(server().number({"ZCARD", set}), 0) << set;
  }
  EXPECT_EQ(server().number({"SCARD", "fairlead:slots:tenant:acme"}), 0);
  EXPECT_EQ(load("a")->result_ptr, "redis://res:a");
}

TEST_F(BesideGo, ATenantIsNotFullOfJobsThatEndedElsewhere) {
  apply<Applied>(dispatch(request("a")));
  go_.succeed("a", now() + 1);
  Change change = dispatch(request("b"));
  change.tenant_limit = change.worker_limit = 1;
  apply<Applied>(std::move(change));
}

TEST_F(BesideGo, AWaitingJobThatTheGatewayCancelledIsNotClaimed) {
  for (const char* id : {"a", "b"}) {
    Change waits = dispatch(request(id));
    waits.path = {State::kPending};
    waits.next->state = State::kPending;
    waits.next->publish_pending = false;
    waits.next->wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", clock_.wall()};
    apply<Applied>(std::move(waits));
    clock_.advance(1s);
  }
  go_.cancel("a", now());
  auto claims = get(store_->claim({{"class"}, 10}));
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].job, JobId("b"));
}

TEST_F(BesideGo, AnApprovalOfTheGatewayIsFollowedWithItsLabels) {
  Change change = dispatch(submitted("a"));
  // A field that we do not know stays.
  change.request = *change.request + "\xd2\x3e\x01x";
  change.path = {State::kPending, State::kApprovalRequired};
  change.next->state = State::kApprovalRequired;
  change.next->publish_pending = false;
  Snapshot record = apply<Applied>(std::move(change)).record;
  go_.approve("a", now() + 1);
  Loaded loaded = get(store_->load(JobId("a"), {.with_request = true}));
  EXPECT_EQ(loaded.record->state, State::kPending);
  EXPECT_EQ(loaded.record->revision, Revision(2));
  cap::JobRequest request;
  ASSERT_TRUE(request.ParseFromString(loaded.request));
  EXPECT_EQ(request.labels().at("approval_granted"), "true");
  EXPECT_EQ(request.labels().at("size"), "");
  EXPECT_EQ(request.labels().at("colour"), "red");
  EXPECT_NE(loaded.request.find("\xd2\x3e\x01x"), std::string::npos);
}

TEST_F(BesideGo, AnApprovalOfTheGatewayComesWithTheRecordUntilItIsUsed) {
  Change change = dispatch(submitted("a"));
  change.path = {State::kPending, State::kApprovalRequired};
  change.next->state = State::kApprovalRequired;
  change.next->publish_pending = false;
  change.next->decision.kind = job::Decision::Kind::kRequireApproval;
  change.next->decision.policy_snapshot = "p1|x";
  Snapshot record = apply<Applied>(std::move(change)).record;
  EXPECT_EQ(load("a")->approval, std::nullopt);
  EXPECT_EQ(server().text({"HGET", "job:meta:a", "safety_job_hash"}), record->request_hash);
  go_.approve("a", now() + 1);
  record = load("a");
  ASSERT_TRUE(record->approval);
  EXPECT_EQ(record->approval->job_hash, record->request_hash);
  EXPECT_EQ(record->approval->policy_snapshot, "p1|x");
  EXPECT_EQ(record->approval->by, "grace");

  change = follow(*record, State::kDispatched);
  record = apply<Applied>(std::move(change)).record;
  EXPECT_TRUE(load("a")->approval) << "it is kept";
  change = follow(*record, State::kRunning);
  change.next->approval.reset();
  record = apply<Applied>(std::move(change)).record;
  EXPECT_EQ(load("a")->approval, std::nullopt) << "it was used";
  EXPECT_EQ(other_record("a")->approval, std::nullopt);
}

TEST_F(BesideGo, AJobThatIsParkedAgainCanBeApprovedAgain) {
  auto park = [&](Snapshot from) {
    Change change = from ? follow(*from, State::kApprovalRequired) : dispatch(submitted("a"));
    if (!from) change.path = {State::kPending, State::kApprovalRequired};
    change.next->state = State::kApprovalRequired;
    change.next->publish_pending = false;
    change.next->approval.reset();
    return apply<Applied>(std::move(change)).record;
  };
  park(nullptr);
  go_.approve("a", now() + 1);
  park(load("a"));
  auto field = [&](const char* name) { return server().text({"HGET", "job:meta:a", name}); };
  EXPECT_EQ(field("approval_status"), "pending");
  EXPECT_EQ(field("approval_actionability"), "actionable");
  EXPECT_EQ(field("approval_revision"), "3");
  EXPECT_EQ(field("approval_decision"), "");
  EXPECT_EQ(load("a")->approval, std::nullopt);
}

TEST_F(BesideGo, ALockOfAGoServiceIsNeverTakenBeforeItsTime) {
  server().ask(
      {"SET", "cordum:scheduler:job:a", "3b9ad2a0-58cc-4372-a567-0e02b2c3d479", "NX", "EX", "10"});
  LoadOptions mine{.lease = LeaseRequest{"host.n1.u", 60s}};
  EXPECT_FALSE(get(store_->load(JobId("a"), mine)).lease_taken);
  Change change = dispatch(request("a"), "host.n1.u");
  EXPECT_TRUE(apply<Conflict>(std::move(change)).lease_lost);
  advance_server(server(), 10s);
  EXPECT_TRUE(get(store_->load(JobId("a"), mine)).lease_taken);
}

TEST_F(BesideGo, MembersOfIndexesWhoseJobIsGoneStandInNobodysWay) {
  for (int i = 0; i < 300; ++i) {
    std::string orphan = "orphan" + std::to_string(i);
    server().ask({"ZADD", "job:deadline", std::to_string(now() - 1000 + i), orphan});
    server().ask({"ZADD", "job:index:pending", std::to_string(now() - 1000 + i), orphan});
  }
  apply<Applied>(dispatch(request("a")));
  clock_.advance(61s);
  Query late{.by = Query::By::kDeadline, .limit = 200};
  EXPECT_TRUE(scan(late).empty());
  // They are gone with the first look.
  EXPECT_EQ(scan(late), Ids{"a"});
  EXPECT_EQ(scan({.by = Query::By::kState, .text = "PENDING", .limit = 1000}), Ids{});
  EXPECT_EQ(server().number({"ZCARD", "job:index:pending"}), 0);
}

TEST_F(BesideGo, TheIdempotencyKeyThatTheGatewayReservedIsTheJobs) {
  server().ask({"SET", "job:idempotency:acme:key-a", "a", "NX"});
  apply<Applied>(dispatch(request("a")));
  cap::JobRequest other = request("b");
  other.mutable_meta()->set_idempotency_key("key-a");
  EXPECT_EQ(apply<DuplicateKey>(dispatch(other)).holder, JobId("a"));
}

TEST_F(BesideGo, DeadLettersOfTheGatewayAreRead) {
  server().ask({"SET", "dlq:entry:a",
                R"({"job_id":"a","topic":"job.test","status":"JOB_STATUS_FAILED","reason":"why",)"
                R"("reason_code":"no_workers","last_state":"PENDING","attempts":2,)"
                R"("created_at":"2023-11-14T22:13:20Z"})"});
  server().ask({"ZADD", "dlq:index", "1700000000", "a"});
  auto entries = get(store_->dead_letters("", 10));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].reason, "why");
  EXPECT_EQ(entries[0].attempts, 2u);
  EXPECT_EQ(to_micros(entries[0].created_at), 1'700'000'000'000'000);
}

TEST_F(BesideGo, EndedJobsOfTheGatewayAreRetiredWithAllThatBelongsToThem) {
  go_.submit("a", now());
  go_.cancel("a", now() + 1);
  server().ask({"RPUSH", "job:decisions:a", "{}"});
  server().ask({"SET", "job:a:output_decision", "{}"});
  clock_.advance(limits::kEndedJobTtl + 1s);
  EXPECT_EQ(get(store_->retire(clock_.wall(), 10)), 1u);
  EXPECT_EQ(server().ask({"KEYS", "*"}).texts(), Ids{"fairlead:server"});
}

}  // namespace
}  // namespace fairlead::store::redis
