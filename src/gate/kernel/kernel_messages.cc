#include "gate/kernel/kernel_messages.h"

#include "job/request.h"

namespace fairlead::gate {

namespace cap = cordum::agent::v1;

namespace {

job::Decision::Kind kind_of(cap::DecisionType type) {
  using Kind = job::Decision::Kind;
  if (type == cap::DECISION_TYPE_ALLOW) return Kind::kAllow;
  if (type == cap::DECISION_TYPE_REQUIRE_HUMAN) return Kind::kRequireApproval;
  if (type == cap::DECISION_TYPE_THROTTLE) return Kind::kThrottle;
  if (type == cap::DECISION_TYPE_ALLOW_WITH_CONSTRAINTS) return Kind::kAllowWithConstraints;
  return Kind::kDeny;
}

}  // namespace

cap::PolicyCheckRequest question_of(const cap::JobRequest& request, const job::Record& record,
                                    const std::optional<store::Blob>& content) {
  cap::PolicyCheckRequest question;
  question.set_job_id(record.id.str());
  question.set_topic(record.topic.str());
  question.set_tenant(record.tenant.str());
  question.set_priority(request.priority());
  if (request.has_budget()) *question.mutable_budget() = request.budget();
  question.set_principal_id(request.principal_id());
  *question.mutable_labels() = request.labels();
  question.set_memory_id(request.memory_id());
  auto config = request.env().find("CORDUM_EFFECTIVE_CONFIG");
  if (config != request.env().end()) question.set_effective_config(config->second);
  if (request.has_meta()) *question.mutable_meta() = request.meta();
  if (content) {
    question.set_input_content(content->bytes.substr(0, kKernelContentBytesMax));
    question.set_input_size_bytes(static_cast<int64_t>(content->size));
    auto type = request.labels().find("content_type");
    if (type != request.labels().end()) question.set_input_content_type(type->second);
  }
  return question;
}

job::Decision decision_of(const cap::PolicyCheckResponse& response) {
  using Kind = job::Decision::Kind;
  job::Decision decision;
  decision.kind = kind_of(response.decision());
  if (response.approval_required() &&
      (decision.kind == Kind::kAllow || decision.kind == Kind::kAllowWithConstraints)) {
    decision.kind = Kind::kRequireApproval;
  }
  decision.reason = response.reason();
  decision.rule_id = response.rule_id();
  decision.policy_snapshot = response.policy_snapshot();
  if (response.has_constraints()) decision.constraints = job::serialise(response.constraints());
  return decision;
}

job::Decision unavailable(std::string reason) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kUnavailable;
  decision.reason = std::move(reason);
  return decision;
}

}  // namespace fairlead::gate
