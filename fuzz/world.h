// For fuzzers: a scheduler on a store and a bus in memory, in virtual time.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "bus/local/local_bus.h"
#include "fuzz/pieces.h"
#include "gate/topic_gate.h"
#include "routing/pool_map.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/memory/memory_store.h"

namespace fairlead::fuzz {

class World {
 public:
  World() {
    run(bus.start());
    run(scheduler.start());
  }

  // The answer of a task; none when it still waits after a minute.
  template <class T>
  std::optional<T> run(Task<T> task) {
    std::optional<T> value;
    auto keep = [](Task<T> inner, std::optional<T>& into) -> Task<void> {
      into.emplace(co_await std::move(inner));
    };
    Nursery nursery;
    nursery.spawn(keep(std::move(task), value));
    for (int turns = 0; !value && turns < 600; ++turns) {
      loop.run_for(std::chrono::milliseconds(100));
    }
    nursery.drop();
    return value;
  }

  static std::shared_ptr<routing::PoolMap> default_pools() {
    auto map = routing::parse_pool_map("topics: {job.default: default}\npools: {default: {}}\n");
    check(map.has_value(), "the pools can be read");
    return std::make_shared<routing::PoolMap>(*std::move(map));
  }

  SimulatedLoop loop;
  LoopClock clock{loop};
  SeededRandom random{1};
  NoLog log;
  store::MemoryStore store{clock};
  gate::TopicGate gate;
  bus::LocalBus bus{loop, clock, store};
  std::shared_ptr<routing::PoolMap> pools = default_pools();
  scheduler::Scheduler scheduler{{loop, clock, random, store, bus, gate, log}, {}, pools};
};

}  // namespace fairlead::fuzz
