#include "tests/chaos/checker.h"

#include <gmock/gmock.h>

namespace fairlead::chaos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Micros kSecond = 1'000'000;

// A round in which job `a` was run and nothing went wrong.
Evidence quiet_round() {
  return {.submits = {{"a", "key", 1 * kSecond, 2 * kSecond}},
          .deliveries = {{"a", 1, "worker", 3 * kSecond}},
          .results = {{"a", 1, 4 * kSecond}},
          .records = {{"a", {"SUCCEEDED", 5 * kSecond, {3 * kSecond}}}},
          .judged = 100 * kSecond};
}

const FaultSpan kFault{"redis stopped", 0, 50 * kSecond};

TEST(Checker, IsContentWithARoundWithoutFaults) {
  const Judgement judgement = judge(quiet_round());
  EXPECT_THAT(judgement.violations, IsEmpty());
  EXPECT_EQ(judgement.jobs, 1u);
  EXPECT_EQ(judgement.succeeded, 1u);
  EXPECT_EQ(judgement.run_again, 0u);
  EXPECT_EQ(judgement.longest.seconds, 2);
}

TEST(Checker, NoticesAJobThatIsGone) {
  Evidence evidence = quiet_round();
  evidence.records["a"].state = "";
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 lost: a"));
  evidence.records.clear();
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 lost: a"));
}

TEST(Checker, NoticesAJobThatHasNotEnded) {
  Evidence evidence = quiet_round();
  evidence.records["a"].state = "RUNNING";
  evidence.results.clear();
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 stuck: a (RUNNING)"));
}

TEST(Checker, NoticesAnEpochThatWasHandedOutTwiceWhateverWentWrong) {
  Evidence evidence = quiet_round();
  evidence.faults = {kFault};
  evidence.deliveries.push_back({"a", 1, "other", 4 * kSecond});
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 epochs handed out twice: a epoch 1"));
}

TEST(Checker, NoticesAnEpochThatWasHandedOutTwiceOfAJobThatNobodyAcknowledged) {
  Evidence evidence = quiet_round();
  evidence.deliveries.push_back({"b", 1, "worker", 3 * kSecond});
  evidence.deliveries.push_back({"b", 1, "worker", 4 * kSecond});
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 epochs handed out twice: b epoch 1"));
}

TEST(Checker, AllowsASecondRunOnlyAroundAFault) {
  Evidence evidence = quiet_round();
  evidence.deliveries.push_back({"a", 2, "worker", 4 * kSecond});
  evidence.records["a"].dispatched.push_back(4 * kSecond);
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 run again without a fault: a"));
  evidence.faults = {{"replica-1 killed", 3 * kSecond, 3 * kSecond + 1}};
  const Judgement judgement = judge(evidence);
  EXPECT_THAT(judgement.violations, IsEmpty());
  EXPECT_EQ(judgement.run_again, 1u);
}

TEST(Checker, AllowsATimeoutOnlyAroundAFault) {
  Evidence evidence = quiet_round();
  evidence.results.clear();
  evidence.records["a"].state = "TIMEOUT";
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 timed out without a fault: a"));
  evidence.faults = {{"workers-1 killed", 3 * kSecond, 4 * kSecond}};
  EXPECT_THAT(judge(evidence).violations, IsEmpty());
}

TEST(Checker, NoticesJobsThatFailOrNeverRan) {
  Evidence evidence = quiet_round();
  evidence.records["a"].state = "FAILED";
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 ended as FAILED: a"));
  evidence = quiet_round();
  evidence.deliveries.clear();
  evidence.records["a"].dispatched.clear();
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 succeeded without a worker: a"));
}

TEST(Checker, NoticesADispatchThatNeverArrives) {
  Evidence evidence = quiet_round();
  evidence.deliveries.clear();
  evidence.results.clear();
  evidence.records["a"] = {"TIMEOUT", 40 * kSecond, {3 * kSecond}};
  evidence.faults = {{"replica-1 killed", 2 * kSecond, 4 * kSecond}};
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 handed out and never arrived: a"));
  evidence.faults[0].deafens_workers = true;
  const Judgement judgement = judge(evidence);
  EXPECT_THAT(judgement.violations, IsEmpty());
  EXPECT_EQ(judgement.sent_to_nobody, 1u);
}

TEST(Checker, NoticesADispatchThatTheStreamDoesNotHave) {
  Evidence evidence = quiet_round();
  evidence.deliveries.clear();
  evidence.results.clear();
  evidence.records["a"] = {"TIMEOUT", 40 * kSecond, {3 * kSecond}};
  evidence.faults = {{"nats killed", 2 * kSecond, 4 * kSecond, true}};
  evidence.published = {{"a", 1}};
  EXPECT_THAT(judge(evidence).violations, IsEmpty());
  evidence.published = {{"b", 1}};
  EXPECT_THAT(judge(evidence).violations,
              ElementsAre("1 said to be handed out and never published: a"));
}

TEST(Checker, NoticesAJobThatStandsStillAfterAllIsWellAgain) {
  Evidence evidence = quiet_round();
  evidence.deliveries = {{"a", 1, "worker", 66 * kSecond}};
  evidence.results.clear();
  evidence.records["a"] = {"SUCCEEDED", 67 * kSecond, {66 * kSecond}};
  evidence.faults = {kFault};
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 stood still before it was handed out: a"));
  evidence.records["a"].dispatched = {64 * kSecond};
  const Judgement judgement = judge(evidence);
  EXPECT_THAT(judgement.violations, IsEmpty());
  EXPECT_EQ(judgement.longest.seconds, 63);
  EXPECT_EQ(judgement.longest.faults, "redis stopped for 50.0 s");
}

TEST(Checker, CountsCalmBetweenFaultsToo) {
  Evidence evidence = quiet_round();
  evidence.deliveries = {{"a", 1, "worker", 90 * kSecond}};
  evidence.results.clear();
  evidence.records["a"] = {"SUCCEEDED", 91 * kSecond, {90 * kSecond}};
  evidence.faults = {{"one", 5 * kSecond, 60 * kSecond},
                     {"two", 2 * kSecond, 40 * kSecond},
                     {"three", 74 * kSecond, 80 * kSecond}};
  EXPECT_THAT(judge(evidence).violations, IsEmpty());
  evidence.faults.back().from = 76 * kSecond;
  EXPECT_THAT(judge(evidence).violations, ElementsAre(HasSubstr("stood still")));
}

TEST(Checker, NoticesAStoredResultThatNobodyTakes) {
  Evidence evidence = quiet_round();
  evidence.records["a"].updated = 20 * kSecond;
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 stood still with its result stored: a"));
  EXPECT_THAT(judge(evidence, {.results_are_kept = false}).violations, IsEmpty());
}

TEST(Checker, NoticesAKeyThatStandsForTwoJobs) {
  Evidence evidence = quiet_round();
  evidence.submits.push_back({"b", "key", 1 * kSecond, 2 * kSecond});
  evidence.deliveries.push_back({"b", 1, "worker", 3 * kSecond});
  evidence.records["b"] = {"SUCCEEDED", 4 * kSecond, {3 * kSecond}};
  EXPECT_THAT(judge(evidence).violations, ElementsAre("1 jobs for a key that had one: b"));
}

TEST(Checker, TellsWhatIsLeftOver) {
  Evidence evidence = quiet_round();
  evidence.leftovers = {"fairlead:outbox has 3"};
  EXPECT_THAT(judge(evidence).violations, ElementsAre("left over: fairlead:outbox has 3"));
}

}  // namespace
}  // namespace fairlead::chaos
