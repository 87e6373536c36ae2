// The message ids that one subject has seen lately, bounded by time and by number.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/time.h"

namespace fairlead::bus {

class DuplicateWindow {
 public:
  // The oldest is forgotten when there are too many.
  void remember(std::string_view id, MonotonicTime now);
  // Whether the id was remembered within limits::kDuplicateWindow.
  bool seen(std::string_view id, MonotonicTime now);
  size_t size() const { return ids_.size(); }

 private:
  struct Seen {
    std::string id;
    MonotonicTime at;
  };
  using Ids = std::unordered_set<std::string_view>;

  std::deque<Seen> in_order_;
  Ids ids_;  // of in_order_, whose elements do not move
};

}  // namespace fairlead::bus
