#include "store/rocksdb/time_index.h"

namespace fairlead::store {

void TimeIndex::set(std::string_view name, WallTime at) {
  auto found = times_.find(name);
  if (found == times_.end()) {
    found = times_.emplace(std::string(name), at).first;
  } else {
    by_time_.erase({found->second, found->first});
    found->second = at;
  }
  by_time_.emplace(at, found->first);
}

bool TimeIndex::erase(std::string_view name) {
  auto found = times_.find(name);
  if (found == times_.end()) return false;
  by_time_.erase({found->second, found->first});
  times_.erase(found);
  return true;
}

std::vector<std::string> TimeIndex::until(WallTime until, size_t limit) const {
  std::vector<std::string> names;
  for (const auto& [at, name] : by_time_) {
    if (at > until || names.size() == limit) break;
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> TimeIndex::latest(WallTime until, std::string_view name,
                                           size_t limit) const {
  auto from = std::make_reverse_iterator(by_time_.lower_bound({until, name}));
  std::vector<std::string> names;
  for (; from != by_time_.rend() && names.size() < limit; ++from) names.emplace_back(from->second);
  return names;
}

}  // namespace fairlead::store
