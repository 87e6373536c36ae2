// What the parts of one scheduler share: its contracts, its view of the workers, its settings.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "bus/bus.h"
#include "gate/gate.h"
#include "routing/pool_map.h"
#include "routing/registry.h"
#include "routing/remembered_routes.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/metrics.h"
#include "scheduler/settings.h"
#include "store/store.h"

namespace fairlead::scheduler {

// What a scheduler is plugged into. All of it outlives the scheduler.
struct Plugs {
  Loop& loop;
  const Clock& clock;
  Random& random;
  store::Store& store;
  bus::Bus& bus;
  gate::Gate& gate;
  Log& log;
};

struct Replica : Plugs {
  Replica(const Plugs& plugs, Settings given, std::shared_ptr<const routing::PoolMap> map)
      : Plugs(plugs),
        settings(std::move(given)),
        pools(std::move(map)),
        name(settings.instance + "." + random.token().substr(0, 12)),
        started(clock.monotonic()),
        started_at(clock.wall()) {}

  // It may not have heard of all workers yet.
  bool is_young() const { return clock.monotonic() - started < limits::kWorkerTtl; }

  Duration jitter() { return random.between(Duration(0), limits::kBackoffJitterMax - Duration(1)); }

  const Settings settings;
  std::shared_ptr<const routing::PoolMap> pools;
  routing::RememberedRoutes routes;
  const std::string name;  // "<instance>.<nonce>": the beginning of every lease token
  const MonotonicTime started;
  const WallTime started_at;
  Metrics metrics;
  routing::WorkerRegistry registry;
  // Jobs that are out with a worker by the store's word and not by its own.
  std::map<WorkerId, std::vector<store::Ghost>> ghosts;
  // Told of every record that this replica committed; empty: nobody asks.
  std::function<void(const job::Record&)> watcher;
  // Last, so that the tasks go before what they use.
  Nursery nursery;
};

}  // namespace fairlead::scheduler
