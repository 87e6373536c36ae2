// What a policy's constraints do to a job on its way to the worker (CON-1, CON-2). They come as the
// serialised cordum.agent.v1.PolicyConstraints of a decision. Of damaged bytes, the numbers that
// can still be read hold: a job never gets more than its policy is known to allow.
#pragma once

#include <cstdint>
#include <string_view>

#include "cordum/agent/v1/job.pb.h"

namespace fairlead::job {

// 0: no limit by policy.
struct Limits {
  int64_t max_runtime_ms = 0;
  int32_t max_retries = 0;
  int32_t max_concurrent_jobs = 0;

  bool operator==(const Limits&) const = default;
};

Limits limits_of(std::string_view constraints);

// Lowers the request's deadline, never raises it, and puts the constraints into its environment for
// the worker. False when the bytes were damaged and the worker is told only the numbers.
bool apply_constraints(std::string_view constraints, cordum::agent::v1::JobRequest& request);

}  // namespace fairlead::job
