// The store that the replicas of a simulated world share. It may fail over, as Redis does, to a
// server that lacks what was written last.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/clock.h"
#include "store/memory/memory_store.h"

namespace fairlead::sim {

class SimStore {
 public:
  template <class T>
  using Effect = std::function<Result<T>(store::MemoryStore&)>;

  // Times are of the given clock. One that may fail over remembers all that was done to it.
  SimStore(const Clock& clock, bool may_fail_over);

  template <class T>
  Result<T> run(const Effect<T>& effect) {
    if (may_fail_over_) {
      done_.push_back({clock_.wall(), clock_.monotonic(),
                       [effect](store::MemoryStore& store) { (void)effect(store); }});
    }
    return effect(*store_);
  }

  // What was done in the last `time` is lost.
  void fail_over(Duration time);
  // While it does again what was done to it before.
  bool repeats() const { return clock_.past.has_value(); }
  // Another number for every server that it fails over to.
  uint64_t server() const { return server_; }
  // As store::Store::rewound_at.
  WallTime rewound_at() const { return rewound_at_; }

  // For checkers, which change nothing.
  store::MemoryStore* operator->() const { return store_.get(); }

 private:
  struct Done {
    WallTime wall;
    MonotonicTime monotonic;
    std::function<void(store::MemoryStore&)> effect;
  };

  // The time when something was done that is done again.
  struct PastClock final : Clock {
    explicit PastClock(const Clock& clock) : real(clock) {}
    WallTime wall() const override { return past ? past->first : real.wall(); }
    MonotonicTime monotonic() const override { return past ? past->second : real.monotonic(); }

    const Clock& real;
    std::optional<std::pair<WallTime, MonotonicTime>> past;
  };

  PastClock clock_;
  const bool may_fail_over_;
  const std::pair<WallTime, MonotonicTime> opened_;
  std::unique_ptr<store::MemoryStore> store_;
  std::vector<Done> done_;
  uint64_t server_ = 1;
  WallTime rewound_at_;
};

}  // namespace fairlead::sim
