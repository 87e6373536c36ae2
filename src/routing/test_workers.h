// Short ways to say workers, routes and times in the tests of this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/ids.h"
#include "base/time.h"
#include "routing/pool_map.h"
#include "routing/registry.h"
#include "routing/route.h"
#include "routing/worker.h"

namespace fairlead::routing {

inline MonotonicTime at(double seconds) {
  return MonotonicTime(Duration(static_cast<int64_t>(seconds * 1'000'000)));
}

inline WorkerReport worker(std::string_view id, std::string_view pool = "default") {
  return {.id = WorkerId(id), .pool = PoolName(pool)};
}

inline WorkerReport busy_worker(std::string_view id, int active, int capacity, double cpu = 0) {
  WorkerReport report = worker(id);
  report.active_jobs = active;
  report.max_parallel_jobs = capacity;
  report.cpu_load = cpu;
  return report;
}

inline WorkerReport labelled_worker(std::string_view id, Labels labels) {
  WorkerReport report = worker(id);
  report.labels = std::move(labels);
  return report;
}

inline Route route_to(std::initializer_list<const char*> pools, Labels placement = {}) {
  Route route;
  for (const char* pool : pools) route.pools.emplace_back(pool);
  route.placement = std::move(placement);
  return route;
}

inline PoolMap pool_map(std::string_view yaml) {
  auto map = parse_pool_map(yaml);
  check(map.has_value(), map ? "" : map.error().message.c_str());
  return *map;
}

}  // namespace fairlead::routing
