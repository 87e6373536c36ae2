#include "job/constraints.h"

#include <algorithm>
#include <string>

#include <google/protobuf/util/json_util.h>

#include "cordum/agent/v1/safety.pb.h"

namespace fairlead::job {

namespace {

namespace cap = cordum::agent::v1;

bool parse(std::string_view bytes, cap::PolicyConstraints& constraints) {
  return constraints.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void lower_deadline(int64_t max_runtime_ms, cap::JobRequest& request) {
  if (max_runtime_ms <= 0) return;
  int64_t asked_ms = request.budget().deadline_ms();
  if (asked_ms > 0 && asked_ms <= max_runtime_ms) return;
  request.mutable_budget()->set_deadline_ms(max_runtime_ms);
}

void set_number(const char* name, int64_t value, cap::JobRequest& request) {
  if (value > 0) (*request.mutable_env())[name] = std::to_string(value);
}

}  // namespace

Limits limits_of(std::string_view constraints) {
  if (constraints.empty()) return {};
  cap::PolicyConstraints parsed;
  parse(constraints, parsed);
  const cap::BudgetConstraints& budgets = parsed.budgets();
  return {.max_runtime_ms = std::max<int64_t>(budgets.max_runtime_ms(), 0),
          .max_retries = std::max(budgets.max_retries(), 0),
          .max_concurrent_jobs = std::max(budgets.max_concurrent_jobs(), 0)};
}

bool apply_constraints(std::string_view constraints, cap::JobRequest& request) {
  if (constraints.empty()) return true;
  cap::PolicyConstraints parsed;
  bool whole = parse(constraints, parsed);

  const cap::BudgetConstraints& budgets = parsed.budgets();
  lower_deadline(budgets.max_runtime_ms(), request);
  set_number("CORDUM_MAX_ARTIFACT_BYTES", budgets.max_artifact_bytes(), request);
  set_number("CORDUM_MAX_CONCURRENT_JOBS", budgets.max_concurrent_jobs(), request);
  set_number("CORDUM_MAX_RETRIES", budgets.max_retries(), request);

  std::string json;
  if (!whole || !google::protobuf::util::MessageToJsonString(parsed, &json).ok()) return false;
  auto& env = *request.mutable_env();
  env["CORDUM_POLICY_CONSTRAINTS"] = std::move(json);
  if (!parsed.redaction_level().empty()) env["CORDUM_REDACTION_LEVEL"] = parsed.redaction_level();
  return true;
}

}  // namespace fairlead::job
