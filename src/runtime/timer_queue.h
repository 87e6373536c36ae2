// The timers of a loop, in the order in which they fire; equal times fire in the order of arming.
#pragma once

#include <map>
#include <optional>

#include "runtime/loop.h"

namespace fairlead {

class TimerQueue {
 public:
  TimerId add(MonotonicTime at, Loop::Work work);
  void remove(TimerId timer) { timers_.erase(timer); }

  bool empty() const { return timers_.empty(); }
  std::optional<MonotonicTime> next() const;
  // Takes the first timer that is due at `now`; empty when there is none.
  Loop::Work take_due(MonotonicTime now);

 private:
  std::map<TimerId, Loop::Work> timers_;
  uint64_t armed_ = 0;
};

}  // namespace fairlead
