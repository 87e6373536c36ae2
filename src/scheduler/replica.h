// What the parts of one scheduler share: its contracts, its view of the workers, its settings.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/planted.h"
#include "bus/bus.h"
#include "gate/gate.h"
#include "routing/pool_map.h"
#include "routing/registry.h"
#include "routing/remembered_routes.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/effective_config.h"
#include "scheduler/metrics.h"
#include "scheduler/presence.h"
#include "scheduler/settings.h"
#include "scheduler/steady_time.h"
#include "store/store.h"
#include "store/store_time.h"

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
  EffectiveConfig* config = nullptr;  // nullptr: there is none
};

struct Replica : Plugs {
  Replica(const Plugs& plugs, Settings given, std::shared_ptr<const routing::PoolMap> map)
      : Plugs(plugs),
        settings(std::move(given)),
        clock(plugs.clock),
        pools(std::move(map)),
        name(settings.instance + "." + random.token().substr(0, 12)),
        steady(clock),
        presence(clock, registry) {}

  // Whether messages can be sent and heard now.
  bool has_bus() const { return bus.listening_since().has_value(); }

  // Whether there has been one for long enough that the results in it were read.
  bool has_settled_bus() const {
    const std::optional<MonotonicTime> since = bus.listening_since();
    return since && loop.now() - *since >= limits::kTimeoutsAfterBus;
  }

  // Since when jobs that wait have really been tried: the clock ran, and there was a bus.
  WallTime steady_since() {
    if (planted(PlantedBug::kBusAbsenceCounts)) return steady.since();
    const std::optional<MonotonicTime> listening = bus.listening_since();
    const Duration listened = listening ? loop.now() - *listening : Duration(0);
    return std::max(steady.since(), clock.wall() - listened);
  }

  // A topic in metrics. Any client can name one: only those that have pools are told apart (H-103).
  std::string_view label_of(const Topic& topic) const {
    if (topic.empty()) return "unknown";
    return pools->pools_of(topic) ? std::string_view(topic.str()) : kOtherLabel;
  }

  Duration jitter() { return random.between(Duration(0), limits::kBackoffJitterMax - Duration(1)); }

  // Timeouts and fail mode may be changed, between two steps of anything.
  Settings settings;
  store::StoreTime clock;  // stands for the plug, which may be wrong
  std::shared_ptr<const routing::PoolMap> pools;
  routing::RememberedRoutes routes;
  const std::string name;  // "<instance>.<nonce>": the beginning of every lease token
  SteadyTime steady;
  // The time in use is known to be wrong: nothing is done by it.
  bool clock_is_off = false;
  Metrics metrics;
  routing::WorkerRegistry registry;
  Presence presence;
  // Jobs that are out with a worker by the store's word and not by its own.
  std::map<WorkerId, std::vector<store::Ghost>> ghosts;
  // Jobs that a sweep is looking at, or that are to be left alone, and until when it does not look
  // at them again.
  std::map<JobId, MonotonicTime> left_alone;
  // The last result that came to this replica.
  job::BusPlace results_seen;
  // Told of every record that this replica committed; empty: nobody asks.
  std::function<void(const store::Snapshot&)> watcher;
  // Last, so that the tasks go before what they use.
  Nursery nursery;
};

}  // namespace fairlead::scheduler
