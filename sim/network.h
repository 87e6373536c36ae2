// What lies between a replica and the store or the bus: calls take time, get lost, take effect
// without an answer, and the replica may die before or after them.
#pragma once

#include <functional>
#include <memory>

#include "sim/observer.h"
#include "sim/options.h"
#include "sim/process.h"

namespace fairlead::sim {

// What the world gives to its parts.
struct WorldPlugs {
  SimulatedLoop& loop;
  Random& random;
  const Options& options;
  Observer& observer;
  const bool& healed;  // after the faults: no more of them
  std::function<void(std::string)> trace;

  // Whether a fault strikes now; counted under its name.
  bool strikes(uint64_t one_in, const char* fault) {
    if (healed || !random.chance(one_in)) return false;
    observer.count_fault(fault);
    return true;
  }
  Duration delay(Duration most) {
    return healed ? Duration(500) : random.between(Duration(100), std::max(most, Duration(200)));
  }
};

}  // namespace fairlead::sim
