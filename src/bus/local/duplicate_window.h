// The message ids that one subject has seen lately, bounded by time and by number.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"

namespace fairlead::bus {

class DuplicateWindow {
 public:
  // The oldest is forgotten when there are too many.
  void remember(std::string_view id, Sequence sequence, MonotonicTime now);
  // The message of this id that was remembered within limits::kDuplicateWindow.
  std::optional<Sequence> seen(std::string_view id, MonotonicTime now);
  size_t size() const { return ids_.size(); }

 private:
  struct Seen {
    std::string id;
    MonotonicTime at;
  };
  using Ids = std::unordered_map<std::string_view, Sequence>;

  std::deque<Seen> in_order_;
  Ids ids_;  // of in_order_, whose elements do not move
};

}  // namespace fairlead::bus
