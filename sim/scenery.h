// What stands in every simulated world: pools, topics and a tenant with a limit.
#pragma once

#include <string>

#include "base/ids.h"

namespace fairlead::sim {

inline constexpr const char* kPools = R"(
topics:
  job.plain: main
  job.both: [main, spare]
  job.gpu: gpu
  job.limited: main
  job.denied: main
  job.approval: main
  job.fickle: [main, spare]
pools:
  main: {}
  spare: {}
  gpu: {requires: [gpu]}
)";

inline const Topic kDeniedTopic{"job.denied"};
// Policy wants a person to approve its jobs.
inline const Topic kApprovalTopic{"job.approval"};
// Policy changes its mind about its jobs.
inline const Topic kFickleTopic{"job.fickle"};

inline const Topic kLimitedTopic{"job.limited"};
inline const TenantId kLimitedTenant{"limited"};
inline constexpr int kTenantLimit = 2;
inline constexpr int kRetriesLimit = 1;

// A placement label of its own for each of many waiting classes; workers that have one have all.
inline std::string placement_label(uint64_t number) {
  return "node.k" + std::to_string(number);
}

}  // namespace fairlead::sim
