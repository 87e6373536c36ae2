#include "routing/pool_map.h"

#include <algorithm>
#include <iterator>

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

namespace {

// The pools of a topic as they are.
std::vector<Pool> pools_behind(const PoolMap& map, const Topic& topic) {
  std::vector<Pool> pools;
  const std::vector<PoolName>* names = map.pools_of(topic);
  if (!names) return pools;
  for (const PoolName& name : *names) {
    pools.push_back(*map.find(name));
    pools.back().description.clear();
  }
  return pools;
}

}  // namespace

std::vector<Topic> changed_topics(const PoolMap& before, const PoolMap& after) {
  std::vector<Topic> old = before.topics();
  std::vector<Topic> fresh = after.topics();
  std::vector<Topic> all;
  std::ranges::set_union(old, fresh, std::back_inserter(all));
  std::erase_if(all, [&](const Topic& topic) {
    return pools_behind(before, topic) == pools_behind(after, topic);
  });
  return all;
}

}  // namespace fairlead::routing
