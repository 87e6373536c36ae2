#include "job/constraints.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "cordum/agent/v1/safety.pb.h"

namespace fairlead::job {
namespace {

namespace cap = cordum::agent::v1;

cap::PolicyConstraints constraints() {
  cap::PolicyConstraints constraints;
  constraints.mutable_budgets()->set_max_runtime_ms(2000);
  constraints.mutable_budgets()->set_max_retries(3);
  constraints.mutable_budgets()->set_max_artifact_bytes(1 << 20);
  constraints.mutable_budgets()->set_max_concurrent_jobs(5);
  constraints.mutable_sandbox()->add_network_allowlist("example.org");
  constraints.set_redaction_level("strict");
  return constraints;
}

// Field 5, a string, with a byte that is no UTF-8: no protobuf parser takes it.
std::string damaged() {
  cap::PolicyConstraints budgets;
  *budgets.mutable_budgets() = constraints().budgets();
  return budgets.SerializeAsString() + "\x2a\x01\xff";
}

int64_t deadline_after(int64_t max_runtime_ms, int64_t asked_ms) {
  cap::PolicyConstraints limit;
  limit.mutable_budgets()->set_max_runtime_ms(max_runtime_ms);
  cap::JobRequest request;
  request.mutable_budget()->set_deadline_ms(asked_ms);
  EXPECT_TRUE(apply_constraints(limit.SerializeAsString(), request));
  return request.budget().deadline_ms();
}

TEST(Constraints, ReachTheWorkerThroughItsEnvironment) {
  cap::JobRequest request;
  (*request.mutable_env())["own"] = "kept";
  ASSERT_TRUE(apply_constraints(constraints().SerializeAsString(), request));
  const auto& env = request.env();
  EXPECT_EQ(env.at("CORDUM_REDACTION_LEVEL"), "strict");
  EXPECT_EQ(env.at("CORDUM_MAX_ARTIFACT_BYTES"), "1048576");
  EXPECT_EQ(env.at("CORDUM_MAX_CONCURRENT_JOBS"), "5");
  EXPECT_EQ(env.at("CORDUM_MAX_RETRIES"), "3");
  EXPECT_EQ(env.at("own"), "kept");
  EXPECT_EQ(env.size(), 6u);
}

TEST(Constraints, TravelWholeAsProtobufJson) {
  cap::JobRequest request;
  ASSERT_TRUE(apply_constraints(constraints().SerializeAsString(), request));
  const std::string& json = request.env().at("CORDUM_POLICY_CONSTRAINTS");
  EXPECT_NE(json.find("\"maxRuntimeMs\":\"2000\""), std::string::npos) << json;
  cap::PolicyConstraints back;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &back).ok());
  EXPECT_EQ(back.SerializeAsString(), constraints().SerializeAsString());
}

TEST(Constraints, SetOnlyWhatTheyLimit) {
  cap::PolicyConstraints sandbox_only;
  sandbox_only.mutable_sandbox()->set_isolated(true);
  cap::JobRequest request;
  ASSERT_TRUE(apply_constraints(sandbox_only.SerializeAsString(), request));
  EXPECT_EQ(request.env().size(), 1u);
  EXPECT_TRUE(request.env().contains("CORDUM_POLICY_CONSTRAINTS"));
  EXPECT_FALSE(request.has_budget());
}

TEST(Constraints, LowerTheDeadlineAndNeverRaiseIt) {
  EXPECT_EQ(deadline_after(2000, 5000), 2000);
  EXPECT_EQ(deadline_after(2000, 0), 2000);
  EXPECT_EQ(deadline_after(2000, 2000), 2000);
  EXPECT_EQ(deadline_after(2000, 1000), 1000);
  EXPECT_EQ(deadline_after(0, 5000), 5000);
  EXPECT_EQ(deadline_after(-1, 5000), 5000);
}

TEST(Constraints, AbsentOnesChangeNothing) {
  cap::JobRequest request;
  EXPECT_TRUE(apply_constraints("", request));
  EXPECT_EQ(request.ByteSizeLong(), 0u);
}

TEST(Constraints, DamagedOnesStillCapTheDeadlineAndTellTheNumbers) {
  google::protobuf::LogSilencer quiet;
  cap::JobRequest request;
  request.mutable_budget()->set_deadline_ms(5000);
  EXPECT_FALSE(apply_constraints(damaged(), request));
  EXPECT_EQ(request.budget().deadline_ms(), 2000);
  EXPECT_EQ(request.env().at("CORDUM_MAX_RETRIES"), "3");
  EXPECT_FALSE(request.env().contains("CORDUM_POLICY_CONSTRAINTS"));
  EXPECT_FALSE(request.env().contains("CORDUM_REDACTION_LEVEL"));
}

TEST(LimitsOf, ReadsWhatTheSchedulerEnforces) {
  EXPECT_EQ(limits_of(constraints().SerializeAsString()),
            (Limits{.max_runtime_ms = 2000, .max_retries = 3, .max_concurrent_jobs = 5}));
}

TEST(LimitsOf, AbsentConstraintsLimitNothing) {
  EXPECT_EQ(limits_of(""), Limits{});
  EXPECT_EQ(limits_of(cap::PolicyConstraints().SerializeAsString()), Limits{});
}

TEST(LimitsOf, NegativeNumbersLimitNothing) {
  cap::PolicyConstraints negative;
  negative.mutable_budgets()->set_max_runtime_ms(-1);
  negative.mutable_budgets()->set_max_retries(-1);
  negative.mutable_budgets()->set_max_concurrent_jobs(-1);
  EXPECT_EQ(limits_of(negative.SerializeAsString()), Limits{});
}

TEST(LimitsOf, WhatCanBeReadOfDamagedBytesHolds) {
  google::protobuf::LogSilencer quiet;
  EXPECT_EQ(limits_of(damaged()), limits_of(constraints().SerializeAsString()));
  EXPECT_EQ(limits_of("\xff\xff"), Limits{});
}

}  // namespace
}  // namespace fairlead::job
