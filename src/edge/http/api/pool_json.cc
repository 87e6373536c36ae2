#include "edge/http/api/pool_json.h"

#include <algorithm>

#include "edge/http/api/text.h"
#include "edge/http/api/worker_json.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

namespace {

void add(PoolView& view, const Backend& backend, const routing::WorkerView& worker,
         bool with_workers) {
  ++view.workers;
  view.active += worker.load;
  view.capacity += worker.report.max_parallel_jobs;
  if (with_workers && view.worker_list.size() < limits::kListPageMax) {
    view.worker_list.push_back(worker_json(backend, worker));
  }
}

// A pool that drained for its time is inactive.
routing::PoolStatus status_now(const PoolEntry& pool, WallTime now) {
  bool over = pool.status == routing::PoolStatus::kDraining && pool.drain_started_at &&
              *pool.drain_started_at + std::chrono::seconds(pool.drain_seconds) <= now;
  return over ? routing::PoolStatus::kInactive : pool.status;
}

}  // namespace

PoolView pool_view(const Backend& backend, const std::string& name) {
  PoolView view;
  backend.scheduler.registry().visit([&](const routing::WorkerView& worker) {
    if (worker.report.pool.str() == name) add(view, backend, worker, true);
  });
  return view;
}

std::map<std::string, PoolView> pool_views(const Backend& backend) {
  std::map<std::string, PoolView> views;
  backend.scheduler.registry().visit([&](const routing::WorkerView& worker) {
    add(views[worker.report.pool.str()], backend, worker, false);
  });
  return views;
}

json::object pool_json(const Backend& backend, const std::string& name, const PoolEntry& pool,
                       const PoolView& view) {
  json::array needs;
  for (const std::string& need : pool.requires_) needs.emplace_back(need);
  json::array topics;
  for (const auto& [topic, entry] : backend.pools.topics()) {
    if (std::ranges::find(entry.pools, name) != entry.pools.end()) topics.emplace_back(topic);
  }
  json::object body{{"name", name},
                    {"workers", view.workers},
                    {"active_jobs", view.active},
                    {"capacity", view.capacity},
                    {"utilization", view.capacity > 0 ? static_cast<double>(view.active) /
                                                            static_cast<double>(view.capacity)
                                                      : 0.0},
                    {"status", routing::to_string(status_now(pool, backend.clock.wall()))},
                    {"description", pool.description},
                    {"requires", std::move(needs)},
                    {"topics", std::move(topics)},
                    {"captured_at", rfc3339(backend.clock.wall())}};
  if (pool.drain_started_at) {
    body["drain_started_at"] = rfc3339(*pool.drain_started_at);
    body["drain_timeout_seconds"] = pool.drain_seconds;
  }
  return body;
}

json::object pool_detail(const Backend& backend, const std::string& name, const PoolEntry& pool) {
  PoolView view = pool_view(backend, name);
  json::object body = pool_json(backend, name, pool, view);
  body["worker_list"] = std::move(view.worker_list);
  return body;
}

}  // namespace fairlead::http
