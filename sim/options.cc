#include "sim/options.h"

#include "base/limits.h"

namespace fairlead::sim {

namespace {

using namespace std::chrono_literals;

// Most faults are off in most runs.
uint64_t maybe(Random& random, uint64_t often, uint64_t seldom) {
  return random.chance(2) ? 0 : often + random.below(seldom - often + 1);
}

int maybe_count(Random& random, int most) {
  return random.chance(2) ? 0 : 1 + static_cast<int>(random.below(static_cast<uint64_t>(most)));
}

}  // namespace

Options Options::draw(Random& random) {
  Options options;
  options.replicas = 2 + static_cast<int>(random.below(2));
  options.workers = 3 + static_cast<int>(random.below(4));
  options.jobs = 20 + static_cast<int>(random.below(21));
  options.fault_phase = random.between(10s, 45s);
  options.store_error = maybe(random, 10, 200);
  options.store_unknown = maybe(random, 20, 300);
  options.store_crash = maybe(random, 100, 2000);
  options.bus_refuse = maybe(random, 4, 40);
  options.bus_unknown = maybe(random, 5, 60);
  options.bus_crash = maybe(random, 20, 200);
  options.bus_duplicate = maybe(random, 5, 50);
  options.gate_hang = maybe(random, 10, 100);
  options.worker_silent = maybe(random, 10, 100);
  options.worker_lie = maybe(random, 5, 50);
  options.worker_repeat = maybe(random, 4, 40);
  options.crashes = maybe_count(random, 12);
  options.pauses = maybe_count(random, 8);
  options.clock_steps = maybe_count(random, 6);
  options.worker_deaths = maybe_count(random, 10);
  options.worker_overloads = maybe_count(random, 10);
  options.worker_lags = maybe_count(random, 6);
  options.policy_changes = maybe_count(random, 20);
  options.store_clock_steps = maybe_count(random, 6);
  options.far_clock_steps = options.clock_steps + options.store_clock_steps > 0 && random.chance(6);
  options.long_downtime = random.chance(16);
  if (random.chance(6)) options.placements = limits::kClaimClassesMax + 8;
  options.store_delay_max = random.chance(2) ? 2ms : Duration(random.between(5ms, 500ms));
  options.bus_delay_max = random.chance(2) ? 2ms : Duration(random.between(5ms, 1500ms));
  options.gate_in_process = random.chance(2);
  options.stream = random.chance(2);
  options.workers_name_epoch = random.chance(2);
  options.bursts = random.chance(3);
  options.dispatch_timeout = random.chance(2) ? 40s : 150s;
  options.bus_absences = maybe_count(random, 4);
  options.long_bus_absence = random.chance(32);
  if (random.chance(6)) options.store_failovers = 1 + static_cast<int>(random.below(6));
  if (options.stream && random.chance(4)) {
    options.stream_losses = 1 + static_cast<int>(random.below(6));
  }
  if (options.long_bus_absence) {
    // Jobs wait when it goes, and somebody lives through it.
    options.bursts = true;
    options.store_crash = 0;
  }
  return options;
}

}  // namespace fairlead::sim
