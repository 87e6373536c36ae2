// What the scheduler of a story is plugged into: a store and a bus, and the servers behind them.
//
// A process opens both, and a crash takes both away; what the disk or the servers have stays.
#pragma once

#include <memory>

#include "base/log.h"
#include "bus/bus.h"
#include "runtime/random.h"
#include "runtime/simulated_loop.h"
#include "store/store.h"
#include "tests/behaviour/idle_sweeps.h"
#include "tests/behaviour/story_clock.h"

namespace fairlead::behaviour {

// kMemory and kRocksDb: one process with a bus of its own. kCluster: one replica of many, on real
// servers.
enum class Mode { kMemory, kRocksDb, kCluster };

class Wiring {
 public:
  // All must outlive it.
  struct Plugs {
    SimulatedLoop& loop;
    const StoryClock& clock;
    Random& random;
    Log& log;
  };

  virtual ~Wiring() = default;

  // A process begins. Its bus sees the store as `seen` shows it.
  virtual Result<void> open_store() = 0;
  virtual Task<Result<void>> open_bus(store::Store& seen) = 0;
  // A process ends where it is: first nothing reaches the bus any more, then all is gone.
  virtual void drop_bus() = 0;
  virtual void crash() = 0;

  // REQUIRES of these: it is open.
  virtual store::Store& store() = 0;
  virtual bus::Bus& bus() = 0;
  virtual bus::Bus& outside() = 0;   // of clients and workers
  virtual const Clock& clock() = 0;  // by which the scheduler goes

  // Whether there is no other replica, and none can come.
  virtual bool alone() const = 0;
  // Runs everything that can run now, and waits for threads and servers until nothing can happen
  // before time moves.
  virtual void settle() = 0;
  // What sweeps need not ask; nullptr: they ask for all.
  virtual IdleSweeps* idle_sweeps() { return nullptr; }
  // The servers' clocks go with the loop's.
  virtual void set_time(MonotonicTime) {}
};

std::unique_ptr<Wiring> make_wiring(Mode mode, const Wiring::Plugs& plugs);

}  // namespace fairlead::behaviour
