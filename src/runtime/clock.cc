#include "runtime/clock.h"

namespace fairlead {

WallTime SystemClock::wall() const {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return WallTime(std::chrono::duration_cast<Duration>(now));
}

MonotonicTime SystemClock::monotonic() const {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return MonotonicTime(std::chrono::duration_cast<Duration>(now));
}

}  // namespace fairlead
