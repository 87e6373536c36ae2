#include "worker/run_history.h"

#include <gtest/gtest.h>

namespace fairlead::worker {
namespace {

using Verdict = RunHistory::Verdict;

cap::JobRequest request(const std::string& job, uint64_t epoch) {
  cap::JobRequest made;
  made.set_job_id(job);
  if (epoch > 0) made.mutable_dispatch()->set_attempt(epoch);
  return made;
}

cap::JobResult result(const std::string& job, cap::JobStatus status) {
  cap::JobResult made;
  made.set_job_id(job);
  made.set_status(status);
  return made;
}

TEST(RunHistory, NoEpochIsRunTwice) {
  RunHistory history(10);
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kRun);
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kIgnore);
  history.ended(result("a", cap::JOB_STATUS_FAILED_RETRYABLE));
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kIgnore);
}

TEST(RunHistory, AJobThatRunsIsNotStartedAgainAndAnswersForTheNewestEpoch) {
  RunHistory history(10);
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kRun);
  EXPECT_EQ(history.arrives(request("a", 2)), Verdict::kIgnore);
  EXPECT_EQ(history.ended(result("a", cap::JOB_STATUS_SUCCEEDED)).dispatch().attempt(), 2u);
}

TEST(RunHistory, AJobThatEndedIsAnsweredAgain) {
  for (cap::JobStatus status : {cap::JOB_STATUS_SUCCEEDED, cap::JOB_STATUS_FAILED,
                                cap::JOB_STATUS_FAILED_FATAL, cap::JOB_STATUS_TIMEOUT}) {
    RunHistory history(10);
    EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kRun);
    history.ended(result("a", status));
    EXPECT_EQ(history.arrives(request("a", 3)), Verdict::kReplay);
    EXPECT_EQ(history.result("a").status(), status);
    EXPECT_EQ(history.result("a").dispatch().attempt(), 3u);
  }
}

TEST(RunHistory, AJobThatAskedForItIsRunAgainUnderANewEpoch) {
  RunHistory history(10);
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kRun);
  history.ended(result("a", cap::JOB_STATUS_FAILED_RETRYABLE));
  EXPECT_EQ(history.arrives(request("a", 2)), Verdict::kRun);
  history.ended(result("a", cap::JOB_STATUS_SUCCEEDED));
  EXPECT_EQ(history.arrives(request("a", 3)), Verdict::kReplay);
}

TEST(RunHistory, WithoutEpochsARepeatIsAnsweredAgain) {
  RunHistory history(10);
  EXPECT_EQ(history.arrives(request("a", 0)), Verdict::kRun);
  EXPECT_EQ(history.arrives(request("a", 0)), Verdict::kIgnore);
  history.ended(result("a", cap::JOB_STATUS_SUCCEEDED));
  EXPECT_EQ(history.arrives(request("a", 0)), Verdict::kReplay);
  EXPECT_FALSE(history.result("a").has_dispatch());
}

TEST(RunHistory, ForgetsTheOldestEndedOnly) {
  RunHistory history(2);
  EXPECT_EQ(history.arrives(request("running", 1)), Verdict::kRun);
  for (const char* job : {"a", "b", "c"}) {
    EXPECT_EQ(history.arrives(request(job, 1)), Verdict::kRun);
    history.ended(result(job, cap::JOB_STATUS_SUCCEEDED));
  }
  EXPECT_EQ(history.size(), 3u);
  EXPECT_EQ(history.arrives(request("running", 1)), Verdict::kIgnore);
  EXPECT_EQ(history.arrives(request("b", 1)), Verdict::kIgnore);
  EXPECT_EQ(history.arrives(request("a", 1)), Verdict::kRun);
}

}  // namespace
}  // namespace fairlead::worker
