#include "sim/sim_store.h"

#include <algorithm>

namespace fairlead::sim {

namespace {

// As the store on Redis has it: what is lost now is later than what was lost before.
constexpr Duration kBetweenLosses = std::chrono::seconds(1);

}  // namespace

SimStore::SimStore(const Clock& clock, bool may_fail_over)
    : clock_(clock),
      may_fail_over_(may_fail_over),
      opened_(clock.wall(), clock.monotonic()),
      store_(std::make_unique<store::MemoryStore>(clock_)) {}

void SimStore::fail_over(Duration time) {
  check(may_fail_over_, "it remembers what was done to it");
  const MonotonicTime cut = clock_.monotonic() - time;
  std::erase_if(done_, [&](const Done& done) { return done.monotonic > cut; });
  ++server_;
  rewound_at_ = std::max(rewound_at_ + kBetweenLosses, clock_.wall());

  clock_.past = opened_;
  store_ = std::make_unique<store::MemoryStore>(clock_);
  for (const Done& done : done_) {
    clock_.past.emplace(done.wall, done.monotonic);
    done.effect(*store_);
  }
  clock_.past.reset();
}

}  // namespace fairlead::sim
