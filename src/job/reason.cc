#include "job/reason.h"

namespace fairlead::job {

const char* to_string(ReasonCode code) {
  switch (code) {
    case ReasonCode::kNone:
      return "";
    case ReasonCode::kNoWorkers:
      return "no_workers";
    case ReasonCode::kPoolOverloaded:
      return "pool_overloaded";
    case ReasonCode::kTenantLimit:
      return "tenant_limit";
    case ReasonCode::kStaleWorker:
      return "stale_worker";
    case ReasonCode::kSafetyUnavailable:
      return "safety_unavailable";
    case ReasonCode::kSafetyThrottled:
      return "safety_throttled";
    case ReasonCode::kPublishFailed:
      return "publish_failed";
    case ReasonCode::kWorkerRetry:
      return "worker_retry";
    case ReasonCode::kNoPoolMapping:
      return "no_pool_mapping";
    case ReasonCode::kSafetyDenied:
      return "safety_denied";
    case ReasonCode::kSafetyUnknown:
      return "safety_unknown";
    case ReasonCode::kMaxRetriesExceeded:
      return "max_retries_exceeded";
    case ReasonCode::kMaxSchedulingRetries:
      return "max_scheduling_retries";
    case ReasonCode::kDispatchFailed:
      return "dispatch_failed";
    case ReasonCode::kTimeout:
      return "timeout";
    case ReasonCode::kCancelled:
      return "cancelled";
    case ReasonCode::kWorkerLost:
      return "worker_lost";
    case ReasonCode::kUnknownJob:
      return "unknown_job";
    case ReasonCode::kPoisonMessage:
      return "poison_message";
    case ReasonCode::kOutputQuarantined:
      return "output_quarantined";
    case ReasonCode::kOutputQuarantinedAsync:
      return "output_quarantined_async";
    case ReasonCode::kQuarantineFailed:
      return "quarantine_failed";
    case ReasonCode::kSagaUnmarshalFailed:
      return "saga_unmarshal_failed";
    case ReasonCode::kApprovalRejected:
      return "approval_rejected";
    case ReasonCode::kWorkerReported:
      return "worker_reported";
    case ReasonCode::kQuarantinePanicFailed:
      return "quarantine_panic_failed";
    case ReasonCode::kRedeliveryDlqRetry:
      return "redelivery_dlq_retry";
  }
  return "";
}

std::optional<ReasonCode> parse_reason_code(std::string_view text) {
  for (ReasonCode code : kAllReasonCodes) {
    if (text == to_string(code)) return code;
  }
  return std::nullopt;
}

}  // namespace fairlead::job
