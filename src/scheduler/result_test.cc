#include "scheduler/result.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler {
namespace {

using job::State;

class JudgeResult : public testing::Test {
 protected:
  JudgeResult() {
    record_.state = State::kRunning;
    record_.epoch = Epoch(2);
    record_.assignee = WorkerId("w1");
    record_.last_result = {Sequence(3), wall_time_from_micros(1000)};
    record_.results_seen = {Sequence(5), wall_time_from_micros(1500)};
    result_.set_worker_id("w1");
    facts_.place = {Sequence(6), wall_time_from_micros(2000)};
  }
  ResultVerdict judge() const { return judge_result(record_, result_, facts_); }
  void name_epoch(uint64_t epoch) { result_.mutable_dispatch()->set_attempt(epoch); }

  job::Record record_;
  cap::JobResult result_;
  ResultFacts facts_;
};

TEST_F(JudgeResult, TakesTheCurrentEpochOfTheAssignee) {
  name_epoch(2);
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, IgnoresEveryOtherEpoch) {
  for (uint64_t epoch : {1u, 3u, 99u}) {
    name_epoch(epoch);
    EXPECT_EQ(judge(), ResultVerdict::kOldEpoch) << epoch;
  }
}

TEST_F(JudgeResult, TakesAnEarlierEpochThatWasLeftUnknown) {
  record_.open_epochs = {{Epoch(1), WorkerId("w0")}};
  result_.set_worker_id("w0");
  name_epoch(1);
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, IgnoresAnotherWorkerWhileTheAssigneeLives) {
  result_.set_worker_id("w2");
  EXPECT_EQ(judge(), ResultVerdict::kWrongWorker);
  name_epoch(2);
  EXPECT_EQ(judge(), ResultVerdict::kWrongWorker);
}

TEST_F(JudgeResult, TakesAnotherWorkerOnceTheAssigneeHasExpired) {
  result_.set_worker_id("w2");
  facts_.assignee_may_live = false;
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, MatchesAResultWithoutEpochByItsWorker) {
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, AResultWithoutEpochFromBeforeTheDispatchIsOld) {
  facts_.place = {Sequence(5), wall_time_from_micros(1500)};
  EXPECT_EQ(judge(), ResultVerdict::kOldEpoch);
}

TEST_F(JudgeResult, TheFirstEpochHasNoOlderOne) {
  record_.epoch = Epoch(1);
  facts_.place = {Sequence(5), wall_time_from_micros(1500)};
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, AClockThatWasSetBackMakesNoResultOld) {
  facts_.place.stored_at = wall_time_from_micros(20);
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, TheSameOrALowerSequenceIsADuplicate) {
  for (uint64_t sequence : {3u, 1u}) {
    facts_.place = {Sequence(sequence), wall_time_from_micros(1000)};
    EXPECT_EQ(judge(), ResultVerdict::kDuplicate);
  }
}

TEST_F(JudgeResult, AStreamThatWasMadeAnewHasNoDuplicatesOfTheOldOne) {
  facts_.place = {Sequence(1), wall_time_from_micros(2000)};
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, NumbersThatCannotBeComparedAreNot) {
  facts_.place = {Sequence(1), wall_time_from_micros(20)};
  facts_.in_order = false;
  EXPECT_EQ(judge(), ResultVerdict::kTake);
}

TEST_F(JudgeResult, AnEndedJobTakesNothing) {
  record_.state = State::kCancelled;
  EXPECT_EQ(judge(), ResultVerdict::kTerminal);
}

TEST_F(JudgeResult, AJobThatNoWorkerHasTakesNothing) {
  record_.state = State::kRetrying;
  EXPECT_EQ(judge(), ResultVerdict::kNotDispatched);
  record_.epoch = Epoch();
  record_.state = State::kPending;
  EXPECT_EQ(judge(), ResultVerdict::kNotDispatched);
}

}  // namespace
}  // namespace fairlead::scheduler
