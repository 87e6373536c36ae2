// What a store that keeps things brings back when it is opened again.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class DurabilityContract : public StoreTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DurabilityContract);

TEST_P(DurabilityContract, RecordsAndRequestsComeBack) {
  for (const char* id : {"live", "ended"}) {
    Change change = admission(id);
    change.request = std::string("request of ") + id;
    apply<Applied>(std::move(change));
  }
  end("ended");
  auto live = load("live");
  auto ended = load("ended");
  reopen();
  EXPECT_EQ(load("live"), live);
  EXPECT_EQ(load("ended"), ended);
  EXPECT_EQ(request("live"), "request of live");
  EXPECT_EQ(request("ended"), "request of ended");
}

TEST_P(DurabilityContract, GuardsHoldAcrossOpenings) {
  admit("a");
  admit("b");
  end("b");
  reopen();
  apply<Conflict>(admission("a"));
  apply<Conflict>(admission("b"));
  EXPECT_EQ(apply<Applied>(change("a", job::State::kScheduled)).record->revision, Revision(2));
  apply<Applied>(change("b", job::State::kOutputQuarantined));
}

TEST_P(DurabilityContract, EveryIndexIsRebuilt) {
  for (const char* id : {"d", "c", "b", "a"}) {
    job::Record record = fresh(id);
    record.trace = TraceId("t");
    record.deadline = now() + 1h;
    apply<Applied>(admission(record));
    advance(1s);
  }
  Change dispatched = dispatch("c", "w");
  dispatched.next->publish_pending = true;
  dispatched.next->dispatched_at = now();
  apply<Applied>(std::move(dispatched));
  advance(1s);
  Change due = change("b", job::State::kPending);
  due.path.clear();
  due.next->due = now();
  apply<Applied>(std::move(due));
  advance(1s);
  end("d");

  std::vector<Query> queries = {
      {.by = Query::By::kRecent},
      {.only = {.tenant = "acme"}},
      {.only = {.topic = "job.test"}},
      {.by = Query::By::kState, .text = "PENDING"},
      {.by = Query::By::kTenant, .text = "acme"},
      {.by = Query::By::kTrace, .text = "t"},
      {.by = Query::By::kWorker, .text = "w"},
      {.by = Query::By::kDeadline},
      {.by = Query::By::kDue},
      {.by = Query::By::kUnpublished},
      {.by = Query::By::kEnded},
  };
  std::vector<Ids> before;
  for (const Query& query : queries) before.push_back(ids(query));
  reopen();
  for (size_t i = 0; i < queries.size(); ++i) EXPECT_EQ(ids(queries[i]), before[i]) << i;
}

TEST_P(DurabilityContract, JobsAreCountedAgainTheEndedOnesToo) {
  for (const char* id : {"a", "b", "c", "d"}) admit(id);
  end("a");
  advance(1s);
  end("b");
  end("c", job::State::kFailed);
  advance(limits::kEndedJobTtl - 1s);
  ASSERT_EQ(get(store().retire(now(), 10)), 1u);
  reopen();
  EXPECT_EQ(store().jobs_in(job::State::kSucceeded), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kFailed), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kPending), 1u);
}

TEST_P(DurabilityContract, SlotsAreCountedAgain) {
  admit("a");
  admit("b");
  apply<Applied>(dispatch("a", "w"));
  reopen();
  Change tenant = change("b", job::State::kScheduled);
  tenant.tenant_limit = 1;
  EXPECT_EQ(apply<Full>(std::move(tenant)).held, 1u);
  Change worker = dispatch("b", "w");
  worker.worker_limit = 1;
  EXPECT_EQ(apply<Full>(std::move(worker)).held, 1u);
}

TEST_P(DurabilityContract, WaitingJobsKeepTheirPlace) {
  for (const char* id : {"b", "a"}) {
    apply<Applied>(waiting(id, "x"));
    advance(1s);
  }
  reopen();
  EXPECT_EQ(store().waiting_in("x"), 2u);
  EXPECT_EQ(claimed({{"x"}, 2}), (Ids{"b", "a"}));
}

TEST_P(DurabilityContract, WhatLiesBesideTheJobsComesBack) {
  Change change = admission("a");
  change.messages = {{"subject", "payload", "id", ""}};
  change.timers = {{"t", now(), "payload"}, {"done", now(), ""}};
  change.dead_letter = DeadLetter{.job = JobId("a"), .reason = "why", .created_at = now()};
  apply<Applied>(std::move(change));
  change = this->change("a", job::State::kScheduled);
  change.timers_done = {"done"};
  apply<Applied>(std::move(change));
  Sequence queued = get(store().enqueue({"s", "p", "", ""}, now()));
  get(store().add("counter", 7));
  get(store().put_blob("k", {"bytes", now() + 1h}, BlobCondition::kAlways));
  auto messages = get(store().orphans(0s, 10));
  reopen();

  auto again = get(store().orphans(0s, 10));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].message, messages[0].message);
  auto waiting = get(store().queued(10));
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].sequence, queued);
  EXPECT_EQ(get(store().due_timers(now(), 10)), (std::vector<Timer>{{"t", now(), "payload"}}));
  EXPECT_EQ(get(store().dead_letter(JobId("a")))->reason, "why");
  EXPECT_EQ(get(store().dead_letters("", 10)).size(), 1u);
  EXPECT_EQ(get(store().add("counter", 1)), 8);
  EXPECT_EQ(get(store().blob("k"))->bytes, "bytes");
}

TEST_P(DurabilityContract, SequencesNeverComeTwice) {
  Sequence last = get(store().enqueue({"s", "", "", ""}, now()));
  for (int i = 0; i < 3; ++i) {
    reopen();
    Sequence reserved = get(store().reserve_sequences(100'000));
    EXPECT_GT(reserved, last);
    last = get(store().enqueue({"s", "", "", ""}, now()));
    EXPECT_GE(last.value(), reserved.value() + 100'000);
  }
}

TEST_P(DurabilityContract, AnIdempotencyKeyIsStillHeld) {
  job::Record record = fresh("a");
  record.idempotency_key = "key";
  apply<Applied>(admission(record));
  reopen();
  record.id = JobId("b");
  EXPECT_EQ(apply<DuplicateKey>(admission(record)).holder, JobId("a"));
}

TEST_P(DurabilityContract, WhatWasRetiredStaysAway) {
  job::Record record = fresh("a");
  record.trace = TraceId("t");
  apply<Applied>(admission(record));
  end("a");
  advance(limits::kEndedJobTtl);
  EXPECT_EQ(get(store().retire(now(), 10)), 1u);
  reopen();
  EXPECT_EQ(load("a"), std::nullopt);
  EXPECT_EQ(ids({.by = Query::By::kTrace, .text = "t"}), Ids{});
}

TEST_P(DurabilityContract, ClosingFinishesWhatWasCalled) {
  {
    auto dropped = store().apply(admission("a"));
  }
  reopen();
  EXPECT_TRUE(load("a"));
}

// What ends with the process, where nobody else opens the store.
class OneProcessContract : public StoreTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OneProcessContract);

TEST_P(OneProcessContract, ClaimsEndWithTheProcess) {
  apply<Applied>(waiting("a", "x"));
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  reopen();
  EXPECT_EQ(store().waiting_in("x"), 1u);
  EXPECT_EQ(claimed({{"x"}, 2}), Ids{"a"});
}

TEST_P(OneProcessContract, LeasesEndWithTheProcess) {
  EXPECT_TRUE(get(store().acquire("key", {"one.n.1", 60s})));
  reopen();
  EXPECT_TRUE(get(store().acquire("key", {"two.n.1", 60s})));
}

}  // namespace fairlead::store
