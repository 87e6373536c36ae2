// The two kinds of time. Wall time is what is stored and shown; monotonic time is what delays and
// renewals are measured by. They are different types, so one cannot be used for the other, and
// neither can be read here: a Clock (runtime/clock.h) gives them.
#pragma once

#include <chrono>
#include <cstdint>

namespace fairlead {

using Duration = std::chrono::microseconds;

struct WallTimeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  static constexpr bool is_steady = false;
};

struct MonotonicTimeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  static constexpr bool is_steady = true;
};

// Microseconds since the Unix epoch, the unit of every stored time.
using WallTime = std::chrono::time_point<WallTimeline, Duration>;
using MonotonicTime = std::chrono::time_point<MonotonicTimeline, Duration>;

constexpr int64_t to_micros(WallTime time) {
  return time.time_since_epoch().count();
}
constexpr WallTime wall_time_from_micros(int64_t micros) {
  return WallTime(Duration(micros));
}

}  // namespace fairlead
