// The contract of scan: every order, and pages.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class ScanContract : public StoreTest {
 protected:
  using By = Query::By;

  // Jobs admitted one second after the other.
  void admit_all(std::initializer_list<const char*> jobs) {
    for (const char* job : jobs) {
      admit(job);
      advance(1s);
    }
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScanContract);

TEST_P(ScanContract, RecentTellsTheMostRecentlyChangedFirstLiveOrEnded) {
  admit_all({"a", "b", "c"});
  end("b");
  advance(1s);
  apply<Applied>(change("a", job::State::kScheduled));
  EXPECT_EQ(ids({.by = By::kRecent}), (Ids{"a", "b", "c"}));
}

TEST_P(ScanContract, StateTellsTheLeastRecentlyChangedFirst) {
  admit_all({"a", "b", "c"});
  apply<Applied>(change("b", job::State::kScheduled));
  advance(1s);
  apply<Applied>(change("a", job::State::kScheduled));
  EXPECT_EQ(ids({.by = By::kState, .text = "SCHEDULED"}), (Ids{"b", "a"}));
  EXPECT_EQ(ids({.by = By::kState, .text = "PENDING"}), Ids{"c"});
  EXPECT_EQ(ids({.by = By::kState, .text = "NONSENSE"}), Ids{});
}

TEST_P(ScanContract, StateKnowsTheEndedJobsToo) {
  admit_all({"a", "b", "c"});
  end("c", job::State::kFailed);
  advance(1s);
  end("b", job::State::kSucceeded);
  advance(1s);
  end("a", job::State::kFailed);
  EXPECT_EQ(ids({.by = By::kState, .text = "FAILED"}), (Ids{"c", "a"}));
}

TEST_P(ScanContract, JobsInCountsTheJobsOfAStateLiveOrEnded) {
  admit_all({"a", "b", "c", "d"});
  apply<Applied>(change("b", job::State::kScheduled));
  end("c", job::State::kSucceeded);
  end("d", job::State::kSucceeded);
  advance(1s);
  apply<Applied>(change("c", job::State::kOutputQuarantined));
  EXPECT_EQ(store().jobs_in(job::State::kPending), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kScheduled), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kSucceeded), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kOutputQuarantined), 1u);
  EXPECT_EQ(store().jobs_in(job::State::kFailed), 0u);
}

// --- Recent, but only some -----------------------------------------------------------------------

TEST_P(ScanContract, RecentTellsOnlyTheStatesAskedFor) {
  admit_all({"a", "b", "c", "d", "e"});
  for (const char* id : {"c", "a", "d"}) {
    end(id, job::State::kFailed);
    advance(1s);
  }
  end("b");
  advance(1s);
  apply<Applied>(change("e", job::State::kScheduled));
  admit_all({"f"});
  using enum job::State;
  auto only = [](std::vector<job::State> states) { return Query{.only = {.states = states}}; };
  for (size_t size : {1, 2, 100}) {
    EXPECT_EQ(ids_by_pages(only({kPending}), size), Ids{"f"});
    EXPECT_EQ(ids_by_pages(only({kFailed}), size), (Ids{"d", "a", "c"}));
    EXPECT_EQ(ids_by_pages(only({kFailed, kScheduled}), size), (Ids{"e", "d", "a", "c"}));
    EXPECT_EQ(ids_by_pages(only({kPending, kScheduled, kSucceeded}), size), (Ids{"f", "e", "b"}));
    EXPECT_EQ(ids_by_pages(only({kDenied}), size), Ids{});
  }
}

TEST_P(ScanContract, RecentTellsOnlyTheTenantTopicAndTeamAskedFor) {
  auto put = [&](const char* id, const char* tenant, const char* topic, const char* team) {
    job::Record record = fresh(id);
    record.tenant = TenantId(tenant);
    record.topic = Topic(topic);
    record.team = team;
    apply<Applied>(admission(record));
    advance(1s);
  };
  put("a", "acme", "job.x", "red");
  put("b", "acme", "job.y", "red");
  put("c", "globex", "job.x", "red");
  put("d", "acme", "job.x", "blue");
  put("e", "acme", "job.x", "red");
  put("f", "globex", "job.x", "");
  for (const char* id : {"a", "b", "c", "d"}) {
    end(id);
    advance(1s);
  }
  for (size_t size : {1, 2, 100}) {
    auto only = [&](Only wanted) { return ids_by_pages({.only = std::move(wanted)}, size); };
    EXPECT_EQ(only({.tenant = "acme"}), (Ids{"d", "b", "a", "e"}));
    EXPECT_EQ(only({.tenant = "globex"}), (Ids{"c", "f"}));
    EXPECT_EQ(only({.topic = "job.x"}), (Ids{"d", "c", "a", "f", "e"}));
    EXPECT_EQ(only({.tenant = "acme", .topic = "job.x"}), (Ids{"d", "a", "e"}));
    EXPECT_EQ(only({.team = "red"}), (Ids{"c", "b", "a", "e"}));
    EXPECT_EQ(only({.tenant = "acme", .team = "red"}), (Ids{"b", "a", "e"}));
    EXPECT_EQ(only({.states = {job::State::kPending}, .topic = "job.x"}), (Ids{"f", "e"}));
    EXPECT_EQ(only({.tenant = "nobody"}), Ids{});
    EXPECT_EQ(only({.topic = "job."}), Ids{}) << "names are whole";
  }
}

TEST_P(ScanContract, RecentTellsOnlyTheJobsOfAWorker) {
  admit_all({"a", "b", "c", "d"});
  for (const char* id : {"a", "b", "c"}) apply<Applied>(dispatch(id, *id == 'c' ? "v" : "w"));
  advance(1s);
  end("a");
  for (size_t size : {1, 100}) {
    EXPECT_EQ(ids_by_pages({.only = {.worker = "w"}}, size), (Ids{"a", "b"}));
    EXPECT_EQ(ids_by_pages({.only = {.worker = "nobody"}}, size), Ids{});
  }
}

TEST_P(ScanContract, RecentGoesNoFurtherBackThanAsked) {
  admit_all({"a", "b", "c"});
  end("a");
  advance(1s);
  EXPECT_EQ(ids({.only = {.since = now() - 2s}}), (Ids{"a", "c"}));
  EXPECT_EQ(scan({.only = {.since = now() + 1s}}).visited, 0u);
}

TEST_P(ScanContract, RecentOfManyTopicsIsWholeToo) {
  Ids expected;
  for (size_t i = 0; i < limits::kScanQueuesMax + 20; ++i) {
    job::Record record = fresh(std::to_string(i));
    record.topic = Topic("job." + std::to_string(i));
    record.state = job::State::kFailed;
    Change change = admission(record);
    change.path = {job::State::kPending, job::State::kFailed};
    apply<Applied>(std::move(change));
    advance(1s);
    expected.insert(expected.begin(), record.id.str());
  }
  EXPECT_EQ(ids_by_pages({.only = {.tenant = "acme"}}, 50), expected);
  EXPECT_EQ(ids_by_pages({.only = {.states = {job::State::kFailed}, .tenant = "acme"}}, 50),
            expected);
  EXPECT_EQ(ids({.only = {.topic = "job.7"}}), Ids{"7"});
}

TEST_P(ScanContract, AStateOrWorkerIsFoundBehindMoreEndedJobsThanOnePageLooksThrough) {
  admit("rare");
  apply<Applied>(dispatch("rare", "w"));
  end("rare", job::State::kFailed);
  advance(1s);
  for (size_t i = 0; i < limits::kScanVisitsMax; ++i) {
    job::Record record = fresh(std::to_string(i));
    record.assignee = WorkerId("v");
    record.state = job::State::kSucceeded;
    Change change = admission(record);
    change.path = {job::State::kPending, job::State::kSucceeded};
    auto applied = store().apply(std::move(change));
    if (i % 500 == 0) (void)get(std::move(applied));
  }
  (void)get(store().add("behind them all", 1));
  EXPECT_EQ(ids({.by = By::kState, .text = "FAILED", .limit = 5}), Ids{"rare"});
  for (Only only : {Only{.states = {job::State::kFailed}},
                    Only{.states = {job::State::kFailed}, .tenant = "acme"},
                    Only{.states = {job::State::kFailed}, .topic = "job.test"}, Only{.worker = "w"},
                    Only{.tenant = "acme", .worker = "w"}}) {
    Page page = scan({.limit = 5, .only = std::move(only)});
    ASSERT_EQ(page.records.size(), 1u);
    EXPECT_EQ(page.records[0].id, JobId("rare"));
    EXPECT_EQ(page.next, "") << "one page tells all";
  }
}

TEST_P(ScanContract, QueuesTellTheLiveJobsOfEachTopicAndTenant) {
  auto put = [&](const char* id, const char* tenant, const char* topic) {
    job::Record record = fresh(id);
    record.tenant = TenantId(tenant);
    record.topic = Topic(topic);
    apply<Applied>(admission(record));
    advance(1s);
  };
  const WallTime began = now();
  put("a", "acme", "job.x");
  put("b", "acme", "job.x");
  put("c", "acme", "job.y");
  put("d", "globex", "job.x");
  apply<Applied>(dispatch("a", "w"));
  end("c");
  Queues queues = get(store().queues());
  EXPECT_TRUE(queues.complete);
  ASSERT_EQ(queues.all.size(), 2u);
  EXPECT_EQ(queues.all[0].topic, Topic("job.x"));
  EXPECT_EQ(queues.all[0].tenant, TenantId("acme"));
  EXPECT_EQ(queues.all[0].in(job::State::kPending), 1u);
  EXPECT_EQ(queues.all[0].in(job::State::kDispatched), 1u);
  EXPECT_EQ(queues.all[0].oldest, began + 1s) << "a does not wait";
  EXPECT_EQ(queues.all[1].tenant, TenantId("globex"));
  EXPECT_EQ(queues.all[1].oldest, began + 3s);
}

TEST_P(ScanContract, TenantTellsItsLiveJobs) {
  admit_all({"a", "b"});
  job::Record other = fresh("c");
  other.tenant = TenantId("globex");
  apply<Applied>(admission(other));
  end("a");
  EXPECT_EQ(ids({.by = By::kTenant, .text = "acme"}), Ids{"b"});
  EXPECT_EQ(ids({.by = By::kTenant, .text = "globex"}), Ids{"c"});
  EXPECT_EQ(ids({.by = By::kTenant, .text = "nobody"}), Ids{});
}

TEST_P(ScanContract, TraceTellsLiveAndEndedJobsOldestFirst) {
  for (const char* id : {"a", "b", "c", "d"}) {
    job::Record record = fresh(id);
    record.trace = TraceId("t");
    apply<Applied>(admission(record));
    advance(1s);
  }
  admit("of no trace");
  end("c");
  end("a");
  apply<Applied>(change("b", job::State::kScheduled));
  EXPECT_EQ(ids({.by = By::kTrace, .text = "t"}), (Ids{"a", "b", "c", "d"}));
  EXPECT_EQ(ids_by_pages({.by = By::kTrace, .text = "t"}, 1), (Ids{"a", "b", "c", "d"}));
  EXPECT_EQ(ids({.by = By::kTrace, .text = "other"}), Ids{});
}

TEST_P(ScanContract, WorkerTellsTheJobsThatHoldItsSlots) {
  admit_all({"a", "b", "c"});
  apply<Applied>(dispatch("a", "w"));
  apply<Applied>(dispatch("b", "w"));
  apply<Applied>(dispatch("c", "v"));
  end("a");
  EXPECT_EQ(ids({.by = By::kWorker, .text = "w"}), Ids{"b"});
  EXPECT_EQ(ids({.by = By::kWorker, .text = "nobody"}), Ids{});
}

TEST_P(ScanContract, DeadlineTellsWhatIsOverEarliestFirst) {
  auto admit_with = [&](const char* id, std::optional<WallTime> deadline) {
    job::Record record = fresh(id);
    record.deadline = deadline;
    apply<Applied>(admission(record));
  };
  admit_with("a", now() + 3s);
  admit_with("b", now() + 1s);
  admit_with("c", now() + 2s);
  admit_with("d", std::nullopt);
  EXPECT_EQ(ids({.by = By::kDeadline}), Ids{});
  advance(2s);
  EXPECT_EQ(ids({.by = By::kDeadline}), (Ids{"b", "c"}));
  EXPECT_EQ(ids_by_pages({.by = By::kDeadline}, 1), Ids{"b"});
  end("b", job::State::kTimeout);
  EXPECT_EQ(ids({.by = By::kDeadline}), Ids{"c"});
}

TEST_P(ScanContract, DueTellsWhatWaitsInNoClassEarliestFirst) {
  auto admit_with = [&](const char* id, WallTime due, const char* wait_class) {
    job::Record record = fresh(id);
    record.due = due;
    record.wait = job::Wait{job::ReasonCode::kNoWorkers, "", wait_class, now()};
    apply<Applied>(admission(record));
  };
  admit_with("a", now() + 2s, "");
  admit_with("b", now() + 1s, "");
  admit_with("c", now() + 1s, "class");
  admit_with("d", now() + 9s, "");
  EXPECT_EQ(ids({.by = By::kDue}), Ids{});
  advance(2s);
  EXPECT_EQ(ids({.by = By::kDue}), (Ids{"b", "a"}));
  Change moved = change("b", job::State::kPending);
  moved.path.clear();
  moved.next->due.reset();
  apply<Applied>(std::move(moved));
  EXPECT_EQ(ids({.by = By::kDue}), Ids{"a"});
}

TEST_P(ScanContract, UnpublishedTellsDispatchesThatWereNotHandedOver) {
  admit_all({"a", "b", "c"});
  for (const char* id : {"b", "a", "c"}) {
    Change change = dispatch(id, "w");
    change.next->publish_pending = true;
    change.next->dispatched_at = now();
    apply<Applied>(std::move(change));
    advance(1s);
  }
  EXPECT_EQ(ids({.by = By::kUnpublished, .age = 2s}), (Ids{"b", "a"}));
  Change running = change("b", job::State::kRunning);
  running.next->publish_pending = false;
  apply<Applied>(std::move(running));
  EXPECT_EQ(ids({.by = By::kUnpublished}), (Ids{"a", "c"}));
}

TEST_P(ScanContract, EndedTellsTheLatestFirst) {
  admit_all({"a", "b", "c"});
  for (const char* id : {"b", "a"}) {
    end(id);
    advance(1s);
  }
  EXPECT_EQ(ids({.by = By::kEnded}), (Ids{"a", "b"}));
}

TEST_P(ScanContract, PagesFollowEachOtherWithoutGapsOrRepeats) {
  admit_all({"a", "b", "c", "d", "e", "f", "g"});
  for (const char* id : {"c", "f", "b"}) {
    end(id);
    advance(1s);
  }
  for (size_t size : {1, 2, 3, 7, 8}) {
    EXPECT_EQ(ids_by_pages({.by = By::kRecent}, size), (Ids{"b", "f", "c", "g", "e", "d", "a"}));
    EXPECT_EQ(ids_by_pages({.by = By::kEnded}, size), (Ids{"b", "f", "c"}));
    EXPECT_EQ(ids_by_pages({.by = By::kState, .text = "PENDING"}, size), (Ids{"a", "d", "e", "g"}));
    EXPECT_EQ(ids_by_pages({.by = By::kState, .text = "SUCCEEDED"}, size), (Ids{"c", "f", "b"}));
    EXPECT_EQ(ids_by_pages({.by = By::kTenant, .text = "acme"}, size), (Ids{"a", "d", "e", "g"}));
  }
}

TEST_P(ScanContract, PagesOfJobsChangedAtOneTimeAreWholeToo) {
  for (const char* id : {"d", "a", "c", "b"}) admit(id);
  for (const char* id : {"a", "d"}) end(id);
  for (size_t size : {1, 2, 3}) {
    Ids recent = ids_by_pages({.by = By::kRecent}, size);
    std::ranges::sort(recent);
    EXPECT_EQ(recent, (Ids{"a", "b", "c", "d"}));
    Ids pending = ids_by_pages({.by = By::kState, .text = "PENDING"}, size);
    std::ranges::sort(pending);
    EXPECT_EQ(pending, (Ids{"b", "c"}));
  }
}

TEST_P(ScanContract, APageMissesNothingWhenItsLastJobHasChanged) {
  admit_all({"a", "b", "c", "d"});
  Query query{.by = By::kState, .text = "PENDING", .limit = 2};
  Page first = scan(query);
  EXPECT_EQ(first.records.back().id, JobId("b"));
  apply<Applied>(change("b", job::State::kScheduled));
  query.cursor = first.next;
  EXPECT_EQ(ids(query), (Ids{"c", "d"}));
}

TEST_P(ScanContract, APageThatIsNotFullIsTheLast) {
  admit_all({"a", "b"});
  EXPECT_EQ(scan({.by = By::kRecent, .limit = 3}).next, "");
  EXPECT_EQ(scan({.by = By::kRecent, .limit = 0}).records.size(), 0u);
}

}  // namespace fairlead::store
