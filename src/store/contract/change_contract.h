// The contract of apply and load: guards, paths, slots, keys, and all or nothing.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class ChangeContract : public StoreTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ChangeContract);

TEST_P(ChangeContract, AnAdmittedJobIsLoadedAsItWasGiven) {
  job::Record record = fresh("a");
  record.trace = TraceId("t");
  record.deadline = now() + 1h;
  record.history = {{now(), job::State::kPending, Epoch(0), "submit"}};
  EXPECT_EQ(apply<Applied>(admission(record)).record->revision, Revision(1));
  record.revision = Revision(1);
  EXPECT_EQ(load("a"), record);
}

TEST_P(ChangeContract, AJobThatNobodyAdmittedIsNotThere) {
  Loaded loaded = get(store().load(JobId("a"), {.with_request = true}));
  EXPECT_EQ(loaded.record, nullptr);
  EXPECT_EQ(loaded.request, "");
  EXPECT_FALSE(loaded.lease_taken);
}

TEST_P(ChangeContract, TheRequestIsKeptUntilTheJobIsRetired) {
  Change change = admission("a");
  change.request = std::string("bytes\0of it", 11);
  apply<Applied>(std::move(change));
  EXPECT_EQ(request("a"), std::string("bytes\0of it", 11));
  apply<Applied>(dispatch("a", "w"));
  EXPECT_EQ(request("a"), std::string("bytes\0of it", 11));
  end("a");
  EXPECT_EQ(request("a"), std::string("bytes\0of it", 11));
}

TEST_P(ChangeContract, EveryCommitGivesTheNextRevision) {
  admit("a");
  EXPECT_EQ(apply<Applied>(change("a", job::State::kScheduled)).record->revision, Revision(2));
  EXPECT_EQ(apply<Applied>(dispatch("a", "w")).record->revision, Revision(3));
  EXPECT_EQ(load("a")->revision, Revision(3));
}

TEST_P(ChangeContract, ASecondAdmissionConflictsWithTheRecordThatIsThere) {
  admit("a");
  Change again = admission("a");
  again.next->team = "other";
  Conflict conflict = apply<Conflict>(std::move(again));
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(*conflict.now, *load("a"));
  EXPECT_FALSE(conflict.lease_lost);
  EXPECT_EQ(load("a")->team, "");
}

TEST_P(ChangeContract, AnAdmissionConflictsWithAnEndedJob) {
  admit("a");
  end("a");
  Conflict conflict = apply<Conflict>(admission("a"));
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(*conflict.now, *load("a"));
}

TEST_P(ChangeContract, AChangeOfAnOldRevisionConflictsAndChangesNothing) {
  admit("a");
  Change late = change("a", job::State::kScheduled);
  apply<Applied>(change("a", job::State::kScheduled));
  job::Record before = *load("a");
  late.dead_letter = DeadLetter{.job = JobId("a"), .created_at = now()};
  late.messages = {{"subject", "payload", "id", ""}};
  late.timers = {{"timer", now(), ""}};
  Conflict conflict = apply<Conflict>(std::move(late));
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(*conflict.now, before);
  EXPECT_EQ(load("a"), before);
  EXPECT_EQ(get(store().dead_letter(JobId("a"))), std::nullopt);
  EXPECT_TRUE(get(store().orphans(0s, 10)).empty());
  EXPECT_TRUE(get(store().due_timers(now(), 10)).empty());
}

TEST_P(ChangeContract, AChangeOfAJobThatIsNotThereConflictsWithNothing) {
  Change change = this->change(fresh("a"), job::State::kScheduled);
  change.guard.revision = Revision(1);
  EXPECT_EQ(apply<Conflict>(std::move(change)).now, nullptr);
}

TEST_P(ChangeContract, AChangeUnderALeaseNeedsTheLease) {
  admit("a");
  Change change = this->change("a", job::State::kScheduled);
  change.guard.lease = "i.n.mine";
  Conflict conflict = apply<Conflict>(change);
  EXPECT_TRUE(conflict.lease_lost);
  ASSERT_TRUE(conflict.now);
  EXPECT_EQ(*conflict.now, *load("a"));

  EXPECT_TRUE(get(store().acquire(job_lease_key(JobId("a")), {"i.n.mine", 60s})));
  apply<Applied>(std::move(change));
}

TEST_P(ChangeContract, AChangeUnderAnExpiredLeaseIsRefusedAsLost) {
  admit("a");
  EXPECT_TRUE(get(store().load(JobId("a"), {.lease = LeaseRequest{"i.n.mine", 60s}})).lease_taken);
  advance(61s);
  Change change = this->change("a", job::State::kScheduled);
  change.guard.lease = "i.n.mine";
  EXPECT_TRUE(apply<Conflict>(std::move(change)).lease_lost);
  EXPECT_EQ(load("a")->state, job::State::kPending);
}

TEST_P(ChangeContract, AWrongRevisionIsNotCalledALostLease) {
  admit("a");
  Change change = this->change("a", job::State::kScheduled);
  change.guard.revision = Revision(7);
  change.guard.lease = "i.n.mine";
  EXPECT_FALSE(apply<Conflict>(std::move(change)).lease_lost);
}

TEST_P(ChangeContract, ACommitCanReleaseItsLease) {
  admit("a");
  std::string key = job_lease_key(JobId("a"));
  EXPECT_TRUE(get(store().acquire(key, {"i.n.mine", 60s})));
  Change change = this->change("a", job::State::kScheduled);
  change.guard.lease = "i.n.mine";
  change.release_lease = true;
  apply<Applied>(std::move(change));
  EXPECT_TRUE(get(store().acquire(key, {"i.n.other", 60s})));
}

TEST_P(ChangeContract, SeveralTransitionsAreOneCommit) {
  job::Record record = fresh("a");
  record.state = job::State::kDispatched;
  record.assignee = WorkerId("w");
  Change change = admission(record);
  change.path = {job::State::kPending, job::State::kScheduled, job::State::kDispatched};
  EXPECT_EQ(apply<Applied>(std::move(change)).record->revision, Revision(1));
  EXPECT_EQ(load("a")->state, job::State::kDispatched);
}

TEST_P(ChangeContract, AForbiddenStepAnywhereInThePathRefusesAll) {
  admit("a");
  Change change = this->change("a", job::State::kRunning);
  change.path = {job::State::kSucceeded, job::State::kRunning};
  change.dead_letter = DeadLetter{.job = JobId("a"), .created_at = now()};
  Refused refused = apply<Refused>(std::move(change));
  EXPECT_EQ(refused.from, job::State::kSucceeded);
  EXPECT_EQ(refused.to, job::State::kRunning);
  EXPECT_EQ(load("a")->state, job::State::kPending);
  EXPECT_EQ(load("a")->revision, Revision(1));
  EXPECT_EQ(get(store().dead_letter(JobId("a"))), std::nullopt);
}

TEST_P(ChangeContract, AJobMayNotBeginWhereNoJobBegins) {
  job::Record record = fresh("a");
  record.state = job::State::kSucceeded;
  Refused refused = apply<Refused>(admission(record));
  EXPECT_EQ(refused.from, std::nullopt);
  EXPECT_EQ(load("a"), std::nullopt);
}

TEST_P(ChangeContract, AnEmptyPathLeavesTheStateAndChangesTheRest) {
  admit("a");
  Change change = this->change("a", job::State::kPending);
  change.path.clear();
  change.next->attempts = 3;
  apply<Applied>(std::move(change));
  EXPECT_EQ(load("a")->attempts, 3u);
  EXPECT_EQ(load("a")->state, job::State::kPending);
}

TEST_P(ChangeContract, TerminalStaysTerminal) {
  admit("a");
  end("a", job::State::kFailed);
  apply<Refused>(change("a", job::State::kScheduled));
  EXPECT_EQ(load("a")->state, job::State::kFailed);
}

TEST_P(ChangeContract, ASucceededJobMayStillBeQuarantined) {
  job::Record record = fresh("a");
  record.trace = TraceId("t");
  apply<Applied>(admission(record));
  end("a");
  advance(1s);
  apply<Applied>(change("a", job::State::kOutputQuarantined));
  EXPECT_EQ(load("a")->state, job::State::kOutputQuarantined);
  EXPECT_EQ(ids({.by = Query::By::kEnded}), Ids{"a"});
  EXPECT_EQ(ids({.by = Query::By::kTrace, .text = "t"}), Ids{"a"});
  EXPECT_EQ(ids({.by = Query::By::kState, .text = "SUCCEEDED"}), Ids{});
  EXPECT_EQ(ids({.by = Query::By::kState, .text = "OUTPUT_QUARANTINED"}), Ids{"a"});
}

TEST_P(ChangeContract, AJobMayBeAdmittedAsFailed) {
  job::Record record = fresh("a");
  record.state = job::State::kFailed;
  apply<Applied>(admission(record));
  EXPECT_EQ(ids({.by = Query::By::kEnded}), Ids{"a"});
  EXPECT_EQ(ids({.by = Query::By::kTenant, .text = "acme"}), Ids{});
}

TEST_P(ChangeContract, ATenantAtItsLimitIsFullAndToldHowFull) {
  for (const char* id : {"a", "b", "c"}) admit(id);
  for (const char* id : {"a", "b"}) {
    Change change = this->change(id, job::State::kScheduled);
    change.tenant_limit = 2;
    apply<Applied>(std::move(change));
  }
  Change third = change("c", job::State::kScheduled);
  third.tenant_limit = 2;
  Full full = apply<Full>(third);
  EXPECT_EQ(full.slot, Full::Slot::kTenant);
  EXPECT_EQ(full.held, 2u);
  EXPECT_EQ(load("c")->state, job::State::kPending);

  end("a");
  apply<Applied>(std::move(third));
}

TEST_P(ChangeContract, AJobThatHoldsATenantSlotIsNotCountedTwice) {
  admit("a");
  for (job::State state : {job::State::kScheduled, job::State::kDispatched, job::State::kRunning}) {
    Change change = this->change("a", state);
    change.next->assignee = WorkerId("w");
    change.tenant_limit = 1;
    apply<Applied>(std::move(change));
  }
}

TEST_P(ChangeContract, AWaitingJobHoldsNoSlotWhateverItsState) {
  for (const char* id : {"a", "b"}) admit(id);
  Change scheduled = change("a", job::State::kScheduled);
  scheduled.tenant_limit = 1;
  apply<Applied>(std::move(scheduled));
  Change waits = change("a", job::State::kScheduled);
  waits.next->wait = job::Wait{job::ReasonCode::kPublishFailed, "", "", now()};
  apply<Applied>(std::move(waits));
  Change other = change("b", job::State::kScheduled);
  other.tenant_limit = 1;
  apply<Applied>(std::move(other));
}

TEST_P(ChangeContract, OneTenantsSlotsAreNotAnothers) {
  admit("a");
  job::Record record = fresh("b");
  record.tenant = TenantId("globex");
  apply<Applied>(admission(record));
  for (const char* id : {"a", "b"}) {
    Change change = this->change(id, job::State::kScheduled);
    change.tenant_limit = 1;
    apply<Applied>(std::move(change));
  }
}

TEST_P(ChangeContract, AWorkerAtItsLimitIsFullUntilAJobOfItsEnds) {
  for (const char* id : {"a", "b"}) admit(id);
  Change first = dispatch("a", "w");
  first.worker_limit = 1;
  apply<Applied>(std::move(first));
  Change second = dispatch("b", "w");
  second.worker_limit = 1;
  Full full = apply<Full>(second);
  EXPECT_EQ(full.slot, Full::Slot::kWorker);
  EXPECT_EQ(full.held, 1u);
  end("a");
  apply<Applied>(std::move(second));
}

TEST_P(ChangeContract, AJobThatMovesToAnotherWorkerFreesTheFirst) {
  for (const char* id : {"a", "b"}) admit(id);
  apply<Applied>(dispatch("a", "w"));
  Change moved = dispatch("a", "v");
  moved.path = {job::State::kScheduled, job::State::kDispatched};
  moved.worker_limit = 1;
  apply<Applied>(std::move(moved));
  Change other = dispatch("b", "w");
  other.worker_limit = 1;
  apply<Applied>(std::move(other));
  EXPECT_EQ(ids({.by = Query::By::kWorker, .text = "v"}), Ids{"a"});
  EXPECT_EQ(ids({.by = Query::By::kWorker, .text = "w"}), Ids{"b"});
}

TEST_P(ChangeContract, AJobAtItsWorkerIsNotCountedTwice) {
  admit("a");
  apply<Applied>(dispatch("a", "w"));
  Change running = change("a", job::State::kRunning);
  running.worker_limit = 1;
  apply<Applied>(std::move(running));
}

TEST_P(ChangeContract, ADispatchThatItsWorkerNoLongerHasDoesNotCountAgainstIt) {
  for (const char* id : {"a", "b"}) admit(id);
  Change first = dispatch("a", "w");
  first.next->dispatched_at = now();
  apply<Applied>(std::move(first));
  Change second = dispatch("b", "w");
  second.worker_limit = 1;
  second.ghosts = {{JobId("a"), now() - 1s}, {JobId("nobody"), now()}};
  apply<Full>(second);
  second.ghosts = {{JobId("a"), now()}};
  apply<Applied>(std::move(second));
}

TEST_P(ChangeContract, AnIdempotencyKeyBelongsToTheFirstJobOfTheTenant) {
  job::Record first = fresh("a");
  first.idempotency_key = "key";
  apply<Applied>(admission(first));
  job::Record second = fresh("b");
  second.idempotency_key = "key";
  EXPECT_EQ(apply<DuplicateKey>(admission(second)).holder, JobId("a"));
  EXPECT_EQ(load("b"), std::nullopt);

  second.tenant = TenantId("globex");
  apply<Applied>(admission(second));
}

TEST_P(ChangeContract, AnIdempotencyKeyIsHeldBeyondTheEndAndThenExpires) {
  job::Record first = fresh("a");
  first.idempotency_key = "key";
  apply<Applied>(admission(first));
  end("a");
  job::Record second = fresh("b");
  second.idempotency_key = "key";
  apply<DuplicateKey>(admission(second));
  advance(limits::kIdempotencyTtl);
  second.updated_at = now();
  apply<Applied>(admission(second));
}

TEST_P(ChangeContract, ChangesOfAJobThatHasAKeyAreNotDuplicatesOfItself) {
  job::Record record = fresh("a");
  record.idempotency_key = "key";
  apply<Applied>(admission(record));
  apply<Applied>(change("a", job::State::kScheduled));
}

TEST_P(ChangeContract, LaterCallsSeeEarlierOnesThatAreNotYetAnswered) {
  auto admitted = store().apply(admission("a"));
  auto loaded = store().load(JobId("a"), {});
  auto again = store().apply(admission("a"));
  EXPECT_EQ(get(std::move(loaded)).record->id, JobId("a"));
  EXPECT_TRUE(std::holds_alternative<Conflict>(get(std::move(again))));
  EXPECT_TRUE(std::holds_alternative<Applied>(get(std::move(admitted))));
}

TEST_P(ChangeContract, ADroppedFutureDoesNotUndoTheCall) {
  {
    auto dropped = store().apply(admission("a"));
  }
  EXPECT_TRUE(load("a").has_value());
}

TEST_P(ChangeContract, AnIdempotencyKeyTellsItsHolderUntilItsTimeIsOver) {
  job::Record record = fresh("a");
  record.idempotency_key = "key";
  apply<Applied>(admission(record));
  EXPECT_EQ(get(store().key_holder(TenantId("acme"), "key")), JobId("a"));
  EXPECT_EQ(get(store().key_holder(TenantId("acme"), "other")), std::nullopt);
  EXPECT_EQ(get(store().key_holder(TenantId("globex"), "key")), std::nullopt);
  end("a");
  EXPECT_EQ(get(store().key_holder(TenantId("acme"), "key")), JobId("a"));
  advance(limits::kIdempotencyTtl);
  EXPECT_EQ(get(store().key_holder(TenantId("acme"), "key")), std::nullopt);
}

}  // namespace fairlead::store
