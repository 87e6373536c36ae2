// The time that all replicas of a store go by: the store's own.
//
// The wall clock of a replica may be wrong, and may be set. What a replica stores is told by the
// store's clock instead, which it learns with every sign of life; in between the monotonic clock
// carries it on.
#pragma once

#include <algorithm>

#include "base/planted.h"
#include "runtime/clock.h"

namespace fairlead::store {

class StoreTime final : public Clock {
 public:
  // Until it is told, the replica's own clock has to do.
  explicit StoreTime(const Clock& own) : own_(own), ahead_(own.wall().time_since_epoch() - age()) {}

  WallTime wall() const override {
    if (planted(PlantedBug::kOwnClockTrusted)) return own_.wall();
    return WallTime(age() + ahead_);
  }
  MonotonicTime monotonic() const override { return own_.monotonic(); }
  // What it showed, or will show, at a time of the monotonic clock.
  WallTime at(MonotonicTime time) const { return WallTime(time.time_since_epoch() + ahead_); }

  // The store's clock showed `told` at some time between `asked` and now.
  void learn(WallTime told, MonotonicTime asked) {
    Duration least = told.time_since_epoch() - age();
    Duration most = told.time_since_epoch() - asked.time_since_epoch();
    // What was so before stays where it may still be right: answers take time.
    ahead_ = std::clamp(ahead_, least, most);
  }

 private:
  Duration age() const { return own_.monotonic().time_since_epoch(); }

  const Clock& own_;
  Duration ahead_;  // of the monotonic clock
};

}  // namespace fairlead::store
