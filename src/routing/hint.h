// What became of a job's wish for a pool or a worker.
#pragma once

#include <string>

namespace fairlead::routing {

inline constexpr const char* kPreferredPool = "preferred_pool";
inline constexpr const char* kPreferredWorker = "preferred_worker_id";
// The cause of a worker that the caller of `pick` has excluded.
inline constexpr const char* kExcluded = "excluded";

struct HintOutcome {
  // The label: preferred_pool or preferred_worker_id.
  std::string hint;
  std::string value;
  bool accepted = false;
  // "" when accepted. Of a pool: pool_not_mapped, pool_ineligible. Of a worker: not_found,
  // pool_ineligible, label_mismatch, not_ready, overloaded, stale, excluded (by the caller of
  // `pick`).
  std::string cause;

  bool operator==(const HintOutcome&) const = default;
};

}  // namespace fairlead::routing
