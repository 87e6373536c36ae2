// Names, each with a time, in order of time.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"

namespace fairlead::store {

class TimeIndex {
 public:
  void set(std::string_view name, WallTime at);
  bool erase(std::string_view name);
  bool contains(std::string_view name) const { return find(name) != times_.end(); }
  size_t size() const { return times_.size(); }

  // Earliest first, those not after `until`.
  std::vector<std::string> until(WallTime until, size_t limit) const;
  // Latest first, those before `until` and `name`: of that very time the lesser names.
  std::vector<std::string> latest(WallTime until, std::string_view name, size_t limit) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  using Times = std::unordered_map<std::string, WallTime, Hash, std::equal_to<>>;

  Times::const_iterator find(std::string_view name) const { return times_.find(name); }

  Times times_;
  std::set<std::pair<WallTime, std::string_view>> by_time_;  // views of the names in times_
};

}  // namespace fairlead::store
