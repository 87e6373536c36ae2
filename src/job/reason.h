// Why a job waits or ended as it did: the codes that dead-letter entries, records and metrics
// carry.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace fairlead::job {

// Records are stored with these numbers (job/codec.h): a new code goes to the end.
enum class ReasonCode {
  kNone,
  // Why it waits; and, when it has waited too long, why it failed.
  kNoWorkers,
  kPoolOverloaded,
  kTenantLimit,
  kStaleWorker,
  kSafetyUnavailable,
  kSafetyThrottled,
  kPublishFailed,
  kWorkerRetry,
  // Why it ended.
  kNoPoolMapping,
  kSafetyDenied,
  kSafetyUnknown,
  kMaxRetriesExceeded,
  kMaxSchedulingRetries,
  kDispatchFailed,
  kTimeout,
  kCancelled,
  kWorkerLost,
  kUnknownJob,
  kPoisonMessage,
  kOutputQuarantined,
  kOutputQuarantinedAsync,
  kQuarantineFailed,
  kSagaUnmarshalFailed,
  kApprovalRejected,
  // The worker's own code, kept as text beside it.
  kWorkerReported,
  kQuarantinePanicFailed,
  kRedeliveryDlqRetry,
};

inline constexpr std::array kAllReasonCodes = {
    ReasonCode::kNone,
    ReasonCode::kNoWorkers,
    ReasonCode::kPoolOverloaded,
    ReasonCode::kTenantLimit,
    ReasonCode::kStaleWorker,
    ReasonCode::kSafetyUnavailable,
    ReasonCode::kSafetyThrottled,
    ReasonCode::kPublishFailed,
    ReasonCode::kWorkerRetry,
    ReasonCode::kNoPoolMapping,
    ReasonCode::kSafetyDenied,
    ReasonCode::kSafetyUnknown,
    ReasonCode::kMaxRetriesExceeded,
    ReasonCode::kMaxSchedulingRetries,
    ReasonCode::kDispatchFailed,
    ReasonCode::kTimeout,
    ReasonCode::kCancelled,
    ReasonCode::kWorkerLost,
    ReasonCode::kUnknownJob,
    ReasonCode::kPoisonMessage,
    ReasonCode::kOutputQuarantined,
    ReasonCode::kOutputQuarantinedAsync,
    ReasonCode::kQuarantineFailed,
    ReasonCode::kSagaUnmarshalFailed,
    ReasonCode::kApprovalRejected,
    ReasonCode::kWorkerReported,
    ReasonCode::kQuarantinePanicFailed,
    ReasonCode::kRedeliveryDlqRetry,
};

// The text of the code: "no_workers", "pool_overloaded", …; "" for kNone.
const char* to_string(ReasonCode code);
// The code of a text that to_string gives; nothing for any other, such as a worker's own code.
std::optional<ReasonCode> parse_reason_code(std::string_view text);

}  // namespace fairlead::job
