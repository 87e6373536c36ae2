// What is said to a safety kernel, and what its answer means.
#pragma once

#include <optional>
#include <string>

#include "cordum/agent/v1/job.pb.h"
#include "cordum/agent/v1/safety.pb.h"
#include "job/record.h"
#include "store/store.h"

namespace fairlead::gate {

// More of an input than this is cut; the kernel is told the whole size.
inline constexpr size_t kKernelContentBytesMax = 2 << 20;

// `content` is the job's input, where it could be read.
cordum::agent::v1::PolicyCheckRequest question_of(const cordum::agent::v1::JobRequest& request,
                                                  const job::Record& record,
                                                  const std::optional<store::Blob>& content);

// A decision that is not known is a denial (SAFE-4). An allowance that needs approval is a demand
// for it (SAFE-5).
job::Decision decision_of(const cordum::agent::v1::PolicyCheckResponse& response);

job::Decision unavailable(std::string reason);

}  // namespace fairlead::gate
