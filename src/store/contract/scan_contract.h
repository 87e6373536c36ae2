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

TEST_P(ScanContract, StateTellsTheMostRecentlyChangedFirstWhenAsked) {
  admit_all({"a", "b", "c", "d", "e"});
  EXPECT_EQ(ids({.by = By::kState, .text = "PENDING", .latest_first = true}),
            (Ids{"e", "d", "c", "b", "a"}));
  for (const char* id : {"c", "a", "d"}) {
    end(id, job::State::kFailed);
    advance(1s);
  }
  end("b");
  EXPECT_EQ(ids({.by = By::kState, .text = "PENDING", .latest_first = true}), Ids{"e"});
  EXPECT_EQ(ids({.by = By::kState, .text = "FAILED", .latest_first = true}), (Ids{"d", "a", "c"}));
  EXPECT_EQ(ids_by_pages({.by = By::kState, .text = "FAILED", .latest_first = true}, 1),
            (Ids{"d", "a", "c"}));
  admit_all({"f", "g"});
  EXPECT_EQ(ids_by_pages({.by = By::kState, .text = "PENDING", .latest_first = true}, 1),
            (Ids{"g", "f", "e"}));
}

TEST_P(ScanContract, LiveInCountsTheLiveJobsOfAState) {
  admit_all({"a", "b", "c"});
  apply<Applied>(change("b", job::State::kScheduled));
  end("c", job::State::kFailed);
  EXPECT_EQ(store().live_in(job::State::kPending), 1u);
  EXPECT_EQ(store().live_in(job::State::kScheduled), 1u);
  EXPECT_EQ(store().live_in(job::State::kFailed), 0u);
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
  EXPECT_EQ(ids({.by = By::kDeadline, .until = now() + 2s}), (Ids{"b", "c"}));
  EXPECT_EQ(ids_by_pages({.by = By::kDeadline}, 1), (Ids{"b", "c", "a"}));
  end("b", job::State::kTimeout);
  EXPECT_EQ(ids({.by = By::kDeadline, .until = now() + 2s}), Ids{"c"});
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
  EXPECT_EQ(ids({.by = By::kDue, .until = now() + 2s}), (Ids{"b", "a"}));
  Change moved = change("b", job::State::kPending);
  moved.path.clear();
  moved.next.due.reset();
  apply<Applied>(std::move(moved));
  EXPECT_EQ(ids({.by = By::kDue, .until = now() + 2s}), Ids{"a"});
}

TEST_P(ScanContract, UnpublishedTellsDispatchesThatWereNotHandedOver) {
  admit_all({"a", "b", "c"});
  for (const char* id : {"b", "a", "c"}) {
    Change change = dispatch(id, "w");
    change.next.publish_pending = true;
    change.next.dispatched_at = now();
    apply<Applied>(std::move(change));
    advance(1s);
  }
  EXPECT_EQ(ids({.by = By::kUnpublished, .until = now() - 2s}), (Ids{"b", "a"}));
  Change running = change("b", job::State::kRunning);
  running.next.publish_pending = false;
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
