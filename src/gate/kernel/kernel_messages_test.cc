#include "gate/kernel/kernel_messages.h"

#include <gtest/gtest.h>

#include "job/constraints.h"
#include "job/request.h"

namespace fairlead::gate {
namespace {

namespace cap = cordum::agent::v1;
using Kind = job::Decision::Kind;

Kind kind_of(int decision, bool approval_required = false) {
  cap::PolicyCheckResponse response;
  response.set_decision(static_cast<cap::DecisionType>(decision));
  response.set_approval_required(approval_required);
  return decision_of(response).kind;
}

TEST(KernelMessages, EveryDecisionHasItsMeaning) {
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_ALLOW), Kind::kAllow);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_DENY), Kind::kDeny);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_REQUIRE_HUMAN), Kind::kRequireApproval);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_THROTTLE), Kind::kThrottle);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_ALLOW_WITH_CONSTRAINTS), Kind::kAllowWithConstraints);
}

TEST(KernelMessages, WhatIsNoKnownDecisionDenies) {
  for (int unknown : {0, 6, 7, 8, 99, -1}) EXPECT_EQ(kind_of(unknown), Kind::kDeny) << unknown;
}

TEST(KernelMessages, AnAllowanceThatNeedsApprovalIsADemandForIt) {
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_ALLOW, true), Kind::kRequireApproval);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_ALLOW_WITH_CONSTRAINTS, true), Kind::kRequireApproval);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_DENY, true), Kind::kDeny);
  EXPECT_EQ(kind_of(cap::DECISION_TYPE_THROTTLE, true), Kind::kThrottle);
}

TEST(KernelMessages, TheDecisionKeepsReasonRuleSnapshotAndConstraints) {
  cap::PolicyCheckResponse response;
  response.set_decision(cap::DECISION_TYPE_ALLOW_WITH_CONSTRAINTS);
  response.set_reason("because");
  response.set_rule_id("r7");
  response.set_policy_snapshot("abc|1");
  response.mutable_constraints()->mutable_budgets()->set_max_retries(2);
  job::Decision decision = decision_of(response);
  EXPECT_EQ(decision.reason, "because");
  EXPECT_EQ(decision.rule_id, "r7");
  EXPECT_EQ(decision.policy_snapshot, "abc|1");
  EXPECT_EQ(job::limits_of(decision.constraints).max_retries, 2);
}

class Question : public testing::Test {
 protected:
  Question() {
    request_.set_job_id(" j1 ");
    request_.set_priority(cap::JOB_PRIORITY_BATCH);
    request_.mutable_budget()->set_deadline_ms(7);
    request_.set_principal_id("p");
    request_.set_memory_id("m");
    (*request_.mutable_labels())["color"] = "red";
    (*request_.mutable_labels())["content_type"] = "text/plain";
    (*request_.mutable_env())["CORDUM_EFFECTIVE_CONFIG"] = "{}";
    request_.mutable_meta()->set_capability("write");
    record_.id = JobId("j1");
    record_.topic = Topic("job.a");
    record_.tenant = TenantId("default");
  }
  cap::PolicyCheckRequest ask(std::optional<store::Blob> content) const {
    return question_of(request_, record_, content);
  }

  cap::JobRequest request_;
  job::Record record_;
};

TEST_F(Question, CarriesWhatTheKernelJudgesBy) {
  cap::PolicyCheckRequest question = ask(std::nullopt);
  EXPECT_EQ(question.job_id(), "j1");
  EXPECT_EQ(question.topic(), "job.a");
  EXPECT_EQ(question.tenant(), "default") << "the tenant in effect";
  EXPECT_EQ(question.priority(), cap::JOB_PRIORITY_BATCH);
  EXPECT_EQ(question.budget().deadline_ms(), 7);
  EXPECT_EQ(question.principal_id(), "p");
  EXPECT_EQ(question.memory_id(), "m");
  EXPECT_EQ(question.labels().at("color"), "red");
  EXPECT_EQ(question.effective_config(), "{}");
  EXPECT_EQ(question.meta().capability(), "write");
  EXPECT_EQ(question.input_size_bytes(), 0);
}

TEST_F(Question, CarriesTheInputUpToTwoMegabytesAndItsWholeSize) {
  cap::PolicyCheckRequest question =
      ask(store::head_of({std::string((2 << 20) + 5, 'x'), std::nullopt}, kKernelContentBytesMax));
  EXPECT_EQ(question.input_content().size(), size_t{2} << 20);
  EXPECT_EQ(question.input_size_bytes(), (2 << 20) + 5);
  EXPECT_EQ(question.input_content_type(), "text/plain");
}

TEST_F(Question, LeavesTheRequestAsItWas_H14) {
  const cap::JobRequest before = request_;
  ask(store::head_of({"payload", std::nullopt}, kKernelContentBytesMax));
  EXPECT_EQ(job::serialise(request_), job::serialise(before));
}

}  // namespace
}  // namespace fairlead::gate
