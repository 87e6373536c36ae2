// Since when a replica has run with a wall clock that nobody set and on a machine that did not
// sleep. What lies before it is no time in which the replica did anything.
#pragma once

#include <chrono>

#include "base/limits.h"
#include "runtime/clock.h"

namespace fairlead::scheduler {

class SteadyTime {
 public:
  explicit SteadyTime(const Clock& clock) : clock_(clock), ahead_(ahead()), since_(clock.wall()) {}

  WallTime since() {
    if (std::chrono::abs(ahead() - ahead_) > limits::kClockStepMin) {
      ahead_ = ahead();
      since_ = clock_.wall();
    }
    return since_;
  }

 private:
  // Of the monotonic clock.
  Duration ahead() const {
    return clock_.wall().time_since_epoch() - clock_.monotonic().time_since_epoch();
  }

  const Clock& clock_;
  Duration ahead_;
  WallTime since_;
};

}  // namespace fairlead::scheduler
