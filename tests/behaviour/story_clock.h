// The clock of a story: the first of January 2026, and from there the loop's virtual time, unless
// somebody sets it.
#pragma once

#include "runtime/clock.h"
#include "runtime/loop.h"

namespace fairlead::behaviour {

class StoryClock final : public Clock {
 public:
  explicit StoryClock(const Loop& loop) : loop_(loop) {}

  WallTime wall() const override { return unset(loop_.now()) + set_by_; }
  MonotonicTime monotonic() const override { return loop_.now(); }
  void set(Duration by) { set_by_ += by; }
  // What a clock that nobody sets shows at a time of the loop.
  static WallTime unset(MonotonicTime time) { return kBegin + time.time_since_epoch(); }

 private:
  static constexpr WallTime kBegin = wall_time_from_micros(1'767'225'600'000'000);

  const Loop& loop_;
  Duration set_by_{};
};

}  // namespace fairlead::behaviour
