// The contract of waiting: classes, claims and their ends.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class WaitingContract : public StoreTest {
 protected:
  // Jobs of one class, one second after the other.
  void wait_in(const std::string& wait_class, std::initializer_list<const char*> jobs) {
    for (const char* job : jobs) {
      apply<Applied>(waiting(job, wait_class));
      advance(1s);
    }
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WaitingContract);

TEST_P(WaitingContract, TheLongestWaitOfTheNamedClassesIsClaimedFirst) {
  wait_in("x", {"b"});
  wait_in("y", {"a"});
  wait_in("x", {"c"});
  wait_in("z", {"d"});
  EXPECT_EQ(claimed({{"y", "x"}, 10}), (Ids{"b", "a", "c"}));
}

TEST_P(WaitingContract, NoMoreThanAskedForIsClaimed) {
  wait_in("x", {"a", "b", "c"});
  EXPECT_EQ(claimed({{"x"}, 2}), (Ids{"a", "b"}));
  EXPECT_EQ(claimed({{"x"}, 2}), Ids{"c"});
}

TEST_P(WaitingContract, AClaimNamesTheClassAndWhenItLastDispatched) {
  WallTime opened = now();
  wait_in("x", {"a", "b"});
  auto claims = get(store().claim({{"x"}, 1}));
  EXPECT_EQ(claims, (std::vector<Claim>{{JobId("a"), "x", opened}}));
  WallTime dispatched = now();
  apply<Applied>(dispatch("a", "w"));
  advance(1s);
  claims = get(store().claim({{"x"}, 1}));
  EXPECT_EQ(claims, (std::vector<Claim>{{JobId("b"), "x", dispatched}}));
}

TEST_P(WaitingContract, NobodyElseGetsAClaimedJobUntilTheClaimExpires) {
  wait_in("x", {"a"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{});
  advance(limits::kClaimTtl);
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
}

TEST_P(WaitingContract, AJobGivenBackCanBeClaimedAgainInItsPlace) {
  wait_in("x", {"a", "b"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  get(store().unclaim(JobId("a"), 30s));
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
}

TEST_P(WaitingContract, GivingBackWhatIsNotClaimedDoesNothing) {
  wait_in("x", {"a"});
  get(store().unclaim(JobId("a"), 30s));
  get(store().unclaim(JobId("nobody"), 30s));
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
}

TEST_P(WaitingContract, AJobThatSomebodyMissedIsDueAsSoonAsItIsGivenBack) {
  wait_in("x", {"a"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{});
  get(store().unclaim(JobId("a"), 30s));
  EXPECT_EQ(claimed({{}, 1}), Ids{"a"});
  // That was one time.
  get(store().unclaim(JobId("a"), 30s));
  EXPECT_EQ(claimed({{}, 1}), Ids{});
}

TEST_P(WaitingContract, TheClockTriesTheFirstOfEachClassWhoseTimeHasCome) {
  wait_in("x", {"a", "b"});
  wait_in("y", {"c"});
  EXPECT_EQ(claimed({{}, 10}), (Ids{"a", "c"}));
  EXPECT_EQ(claimed({{}, 10}), Ids{});
}

TEST_P(WaitingContract, AClassWaitsForTheDueTimeOfItsFirstJob) {
  Change change = waiting("a", "x");
  change.next->due = now() + 10s;
  apply<Applied>(std::move(change));
  EXPECT_EQ(claimed({{}, 10}), Ids{});
  advance(10s);
  EXPECT_EQ(claimed({{}, 10}), Ids{"a"});
}

TEST_P(WaitingContract, AJobThatStepsBeforeOthersDoesNotPutOffTheirTurn) {
  wait_in("y", {"old"});
  Change young = waiting("young", "x");
  young.next->due = now() + 10s;
  apply<Applied>(std::move(young));
  Change moved = change("old", job::State::kPending);
  moved.path.clear();
  moved.next->wait->wait_class = "x";
  moved.next->wait->queued_at = moved.next->wait->since;
  moved.next->due = now() + 60s;
  apply<Applied>(std::move(moved));
  advance(10s);
  EXPECT_EQ(claimed({{}, 1}), Ids{"old"});
}

TEST_P(WaitingContract, AJobGivenBackIsTriedByTheClockAfterThePause) {
  wait_in("x", {"a"});
  EXPECT_EQ(claimed({{}, 1}), Ids{"a"});
  get(store().unclaim(JobId("a"), 30s));
  advance(29s);
  EXPECT_EQ(claimed({{}, 1}), Ids{});
  advance(1s);
  EXPECT_EQ(claimed({{}, 1}), Ids{"a"});
}

TEST_P(WaitingContract, ACommitClaimsTheLongestWaitingOfEachGroup) {
  wait_in("x", {"a", "b"});
  wait_in("y", {"c"});
  wait_in("z", {"d"});
  admit("done");
  Change change = this->change("done", job::State::kSucceeded);
  change.claim_from = {{"x", "y"}, {"x", "y"}, {"z"}, {"nothing"}};
  std::vector<std::string> jobs;
  for (const Claim& claim : apply<Applied>(std::move(change)).claimed) {
    jobs.push_back(claim.job.str());
  }
  EXPECT_EQ(jobs, (Ids{"a", "b", "d"}));
  EXPECT_EQ(claimed({{"x", "y", "z"}, 10}), Ids{"c"});
}

TEST_P(WaitingContract, ACommitThatIsNotMadeClaimsNothing) {
  wait_in("x", {"a"});
  admit("done");
  Change change = this->change("done", job::State::kSucceeded);
  change.guard.revision = Revision(9);
  change.claim_from = {{"x"}};
  apply<Conflict>(std::move(change));
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
}

TEST_P(WaitingContract, AJobThatStopsWaitingIsInNoClass) {
  wait_in("x", {"a", "b"});
  EXPECT_EQ(store().waiting_in("x"), 2u);
  apply<Applied>(dispatch("a", "w"));
  EXPECT_EQ(store().waiting_in("x"), 1u);
  end("b", job::State::kCancelled);
  EXPECT_EQ(store().waiting_in("x"), 0u);
  EXPECT_EQ(claimed({{"x"}, 10}), Ids{});
}

TEST_P(WaitingContract, AClaimedJobStillCountsAsWaiting) {
  wait_in("x", {"a"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  EXPECT_EQ(store().waiting_in("x"), 1u);
}

TEST_P(WaitingContract, AJobMayMoveToAnotherClass) {
  wait_in("x", {"a"});
  Change moved = change("a", job::State::kPending);
  moved.path.clear();
  moved.next->wait->wait_class = "y";
  apply<Applied>(std::move(moved));
  EXPECT_EQ(store().waiting_in("x"), 0u);
  EXPECT_EQ(claimed({{"x", "y"}, 2}), Ids{"a"});
}

TEST_P(WaitingContract, TheClassesAreListedWithTheirOldestWait) {
  WallTime first = now();
  wait_in("x", {"a", "b"});
  WallTime second = now();
  wait_in("y", {"c"});
  auto views = get(store().waiting({}, 10));
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].wait_class, "x");
  EXPECT_EQ(views[0].waiting, 2u);
  EXPECT_EQ(views[0].oldest_since, first);
  EXPECT_EQ(views[1].wait_class, "y");
  EXPECT_EQ(views[1].oldest_since, second);
  EXPECT_EQ(get(store().waiting({}, 1)).size(), 1u);
}

TEST_P(WaitingContract, TheClassesAreListedPageByPage) {
  wait_in("x", {"a"});
  wait_in("y", {"b"});
  wait_in("z", {"c"});
  auto behind = get(store().waiting("x", 1));
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].wait_class, "y");
  // Also behind one that nobody waits in.
  behind = get(store().waiting("xx", 10));
  ASSERT_EQ(behind.size(), 2u);
  EXPECT_EQ(behind[1].wait_class, "z");
  EXPECT_TRUE(get(store().waiting("z", 10)).empty());
}

TEST_P(WaitingContract, AJobKeepsItsPlaceInLineWhenItsReasonChanges) {
  wait_in("x", {"a", "b"});
  Change other_reason;
  other_reason.guard.revision = load("a")->revision;
  *other_reason.next = *load("a");
  job::Wait& wait = *other_reason.next->wait;
  wait.reason = job::ReasonCode::kPoolOverloaded;
  wait.queued_at = std::exchange(wait.since, now());
  apply<Applied>(std::move(other_reason));
  EXPECT_EQ(claimed({{"x"}, 2}), (Ids{"a", "b"}));
}

TEST_P(WaitingContract, AClassWhoseFirstJobIsClaimedStillTellsItsOldestWait) {
  WallTime first = now();
  wait_in("x", {"a", "b"});
  EXPECT_EQ(claimed({{"x"}, 1}), Ids{"a"});
  EXPECT_EQ(get(store().waiting({}, 10))[0].oldest_since, first);
}

}  // namespace fairlead::store
