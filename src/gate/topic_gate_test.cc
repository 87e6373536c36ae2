#include "gate/topic_gate.h"

#include <gtest/gtest.h>

#include "job/request.h"

namespace fairlead::gate {
namespace {

using Kind = job::Decision::Kind;

class TopicGateTest : public testing::Test {
 protected:
  job::Decision check(const char* topic) {
    cordum::agent::v1::JobRequest request;
    request.set_topic(topic);
    auto answer = gate.check(request, job::Record{});
    EXPECT_TRUE(answer.await_ready()) << "an in-process gate answers at once";
    return *answer.await_resume();
  }
  TopicGate gate;
};

TEST_F(TopicGateTest, AnswersInProcess) {
  EXPECT_TRUE(gate.in_process());
}

TEST_F(TopicGateTest, AllowsWhatItHasNoWordAbout) {
  gate.deny(Topic("job.other"), "no");
  EXPECT_EQ(check("job.render").kind, Kind::kAllow);
}

TEST_F(TopicGateTest, DeniesATopicWithItsReason) {
  gate.deny(Topic("job.render"), "not today");
  EXPECT_EQ(check("job.render").kind, Kind::kDeny);
  EXPECT_EQ(check("job.render").reason, "not today");
  EXPECT_EQ(check("job.render.fast").kind, Kind::kAllow);
}

TEST_F(TopicGateTest, ConstrainsATopic) {
  cordum::agent::v1::PolicyConstraints constraints;
  constraints.mutable_budgets()->set_max_retries(3);
  gate.constrain(Topic("job.render"), constraints);

  const job::Decision decision = check("job.render");
  EXPECT_EQ(decision.kind, Kind::kAllowWithConstraints);
  cordum::agent::v1::PolicyConstraints read;
  ASSERT_TRUE(read.ParseFromString(decision.constraints));
  EXPECT_EQ(read.budgets().max_retries(), 3);
}

TEST_F(TopicGateTest, ReplacesWhatWasSaidBefore) {
  gate.deny(Topic("job.render"), "no");
  job::Decision unavailable;
  unavailable.kind = Kind::kUnavailable;
  gate.decide(Topic("job.render"), unavailable);
  EXPECT_EQ(check("job.render").kind, Kind::kUnavailable);
}

TEST_F(TopicGateTest, TellsWhetherAnyJobWouldHaveToComeLater) {
  gate.deny(Topic("job.render"), "no");
  EXPECT_FALSE(gate.may_throttle());
  gate.decide(Topic("job.render"), {.kind = Kind::kThrottle});
  EXPECT_TRUE(gate.may_throttle());
}

}  // namespace
}  // namespace fairlead::gate
