#include "routing/pool_map.h"

namespace fairlead::routing {

const char* to_string(PoolStatus status) {
  switch (status) {
    case PoolStatus::kActive:
      return "active";
    case PoolStatus::kDraining:
      return "draining";
    case PoolStatus::kInactive:
      return "inactive";
  }
  return "";
}

const std::vector<PoolName>* PoolMap::pools_of(const Topic& topic) const {
  auto found = topics_.find(topic);
  return found == topics_.end() ? nullptr : &found->second;
}

const Pool* PoolMap::find(const PoolName& pool) const {
  auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : &found->second;
}

std::vector<Topic> PoolMap::topics() const {
  std::vector<Topic> all;
  for (const auto& entry : topics_) all.push_back(entry.first);
  return all;
}

std::vector<Pool> PoolMap::pools() const {
  std::vector<Pool> all;
  for (const auto& entry : pools_) all.push_back(entry.second);
  return all;
}

}  // namespace fairlead::routing
