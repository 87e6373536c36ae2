#include "scheduler/judge.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/planted.h"
#include "job/constraints.h"
#include "job/request.h"

namespace fairlead::scheduler {

using job::ReasonCode;
using job::State;

namespace {

// Policy is known by what stands before the first bar; overlays follow.
std::string_view base_of(std::string_view snapshot) {
  return snapshot.substr(0, snapshot.find('|'));
}

}  // namespace

bool is_approved(const job::Record& record, const cap::JobRequest& request) {
  return record.approval && record.approval->job_hash == job::job_hash(request) &&
         base_of(record.approval->policy_snapshot) == base_of(record.decision.policy_snapshot);
}

bool Judge::is_busy() const {
  return !replica_.gate.in_process() && asking_ >= limits::kAskPolicyMax;
}

void Judge::let_next_ask(const Walker& walker, const job::Decision& answer) {
  if (answer.kind == job::Decision::Kind::kUnavailable) return;
  if (walker.claim && walker.claim->wait_class == kPolicyClass) return;  // its claimer does that
  if (replica_.gate.in_process() || replica_.store.waiting_in(kPolicyClass) == 0) return;
  commits_.wake(std::string(kPolicyClass));
}

Task<std::optional<Walked>> Judge::ask(Walker& walker) {
  job::Record& record = walker.record;
  if (is_approved(record, walker.request())) {
    // Constraints, rule and snapshot are those that were approved.
    job::Decision approved = record.decision;
    approved.kind = approved.constraints.empty() ? job::Decision::Kind::kAllow
                                                 : job::Decision::Kind::kAllowWithConstraints;
    approved.reason = "approval granted";
    job::take_decision(record, std::move(approved), replica_.clock.wall());
  } else {
    if (record.approval) {
      replica_.log.warning("approval does not hold for this request and policy",
                           {{"job_id", record.id.str()}});
      record.approval.reset();
    }
    if (is_busy()) co_return co_await ends_.queue_for_policy(walker);
    auto checking = replica_.gate.check(walker.request(), record);
    ++asking_;
    Result<job::Decision> answer = co_await std::move(checking);
    --asking_;
    if (!answer) {
      leases_.release(record.id, walker.token);
      co_return failed(answer.error());
    }
    let_next_ask(walker, *answer);
    job::take_decision(record, *std::move(answer), replica_.clock.wall());
  }
  const std::string_view topic = replica_.label_of(record.topic);
  const std::string reason = record.decision.reason;

  using Kind = job::Decision::Kind;
  switch (record.decision.kind) {
    case Kind::kAllow:
    case Kind::kAllowWithConstraints:
      break;
    case Kind::kUnavailable:
      replica_.metrics.add(Counter::kSafetyUnavailable, topic);
      if (!replica_.settings.safety_fail_open) {
        co_return co_await ends_.wait_for_policy(walker, reason);
      }
      replica_.metrics.add(Counter::kInputFailOpen, topic);
      replica_.log.warning("input policy fail-open: safety kernel unreachable",
                           {{"job_id", record.id.str()}, {"topic", record.topic.str()}});
      break;
    case Kind::kThrottle:
      co_return co_await ends_.pause(walker, ReasonCode::kSafetyThrottled, reason,
                                     limits::kRetrySafety);
    case Kind::kRequireApproval:
      if (planted(PlantedBug::kApprovalSkipped)) break;
      co_return co_await ends_.park_for_approval(walker);
    case Kind::kDeny:
      replica_.metrics.add(Counter::kSafetyDenied, topic);
      co_return co_await ends_.end(walker, {State::kDenied, ReasonCode::kSafetyDenied, {}, reason});
    case Kind::kNone:
    case Kind::kUnknown:
      replica_.metrics.add(Counter::kSafetyDenied, topic);
      co_return co_await ends_.end(walker,
                                   {State::kDenied, ReasonCode::kSafetyUnknown, {}, reason});
  }

  job::Limits limits = job::limits_of(record.decision.constraints);
  if (limits.max_retries > 0 && !planted(PlantedBug::kRetriesUnbounded) &&
      record.deliveries >= static_cast<uint32_t>(limits.max_retries) + 1) {
    co_return co_await ends_.end(walker,
                                 {State::kFailed,
                                  ReasonCode::kMaxRetriesExceeded,
                                  {},
                                  fmt::format("max retries exceeded (attempts={}, max_retries={})",
                                              record.deliveries, limits.max_retries)});
  }
  if (limits.max_runtime_ms > 0) {
    WallTime latest = record.created_at + std::chrono::milliseconds(limits.max_runtime_ms);
    record.deadline = record.deadline ? std::min(*record.deadline, latest) : latest;
  }
  co_return std::nullopt;
}

}  // namespace fairlead::scheduler
