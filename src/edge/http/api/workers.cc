// Workers: who is there, with what load, doing what.
#include <algorithm>

#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/job_json.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"
#include "edge/http/api/worker_json.h"

namespace fairlead::http {

json::object worker_json(const Backend& backend, const routing::WorkerView& view) {
  const routing::WorkerReport& report = view.report;
  Duration age = backend.clock.monotonic() - view.last_seen;
  WallTime heard = backend.clock.wall() - age;
  json::array capabilities;
  for (const std::string& capability : report.capabilities) capabilities.emplace_back(capability);
  json::object labels;
  for (const auto& [name, value] : report.labels) labels[name] = value;
  return {{"worker_id", report.id.str()},
          {"pool", report.pool.str()},
          {"active_jobs", report.active_jobs},
          {"held_jobs", view.held},
          {"load", view.load},
          {"overloaded", view.overloaded},
          {"max_parallel_jobs", report.max_parallel_jobs},
          {"capabilities", std::move(capabilities)},
          {"cpu_load", report.cpu_load},
          {"gpu_utilization", report.gpu_utilization},
          {"memory_load", report.memory_load},
          {"region", report.region},
          {"type", report.type},
          {"labels", std::move(labels)},
          {"last_heartbeat", rfc3339(heard)},
          {"last_heartbeat_at", rfc3339(heard)},
          {"heartbeat_age_seconds", std::chrono::duration<double>(age).count()},
          {"online", backend.scheduler.registry().alive(report.id, backend.clock.monotonic())}};
}

namespace {

struct Listing {
  std::string pool;
  std::string cursor;
  size_t limit = 0;
};

Task<Reply> list(Backend& backend, Listing listing) {
  std::vector<routing::WorkerView> workers = backend.scheduler.registry().workers();
  json::array items;
  std::string next;
  for (const routing::WorkerView& worker : workers) {
    if (worker.report.id.str() <= listing.cursor) continue;
    if (!listing.pool.empty() && worker.report.pool.str() != listing.pool) continue;
    if (items.size() == listing.limit) {
      next = std::string(items.back().at("worker_id").as_string());
      break;
    }
    items.push_back(worker_json(backend, worker));
  }
  co_return reply_json(200,
                       {{"items", std::move(items)},
                        {"next_cursor", next.empty() ? json::value(nullptr) : json::value(next)}});
}

std::expected<Call, Reply> read_list(Request& request, ReadTools&) {
  auto limit = page_limit(request, limits::kListPageMax);
  if (!limit) return std::unexpected(std::move(limit.error()));
  Listing listing{std::string(request.parameter("pool")), std::string(request.parameter("cursor")),
                  *limit};
  return [listing = std::move(listing)](Backend& backend) { return list(backend, listing); };
}

Task<Reply> get_one(Backend& backend, WorkerId worker) {
  const routing::WorkerView* view = backend.scheduler.registry().find(worker);
  if (!view) co_return problem(404, "worker not found");
  co_return reply_json(200, worker_json(backend, *view));
}

std::expected<Call, Reply> read_one(Request& request, ReadTools&) {
  return [worker = WorkerId(request.parameters[0])](Backend& backend) {
    return get_one(backend, worker);
  };
}

Task<Reply> jobs_of(Backend& backend, Caller caller, WorkerId worker, size_t limit) {
  store::Query query;
  query.by = store::Query::By::kWorker;
  query.text = worker.str();
  query.limit = limits::kScanMax;
  auto page = co_await backend.store.scan(query);
  if (!page) co_return problem_of(page.error());
  if (page->records.empty() && !backend.scheduler.registry().find(worker)) {
    co_return problem(404, "worker not found");
  }
  json::array items;
  for (job::Record& record : page->records) {
    if (!caller.sees(record.tenant) || items.size() == limit) continue;
    items.push_back(job_item({std::move(record), {}}, false));
  }
  co_return reply_json(200, {{"items", std::move(items)}});
}

std::expected<Call, Reply> read_jobs(Request& request, ReadTools&) {
  auto limit = page_limit(request, 20);
  if (!limit) return std::unexpected(std::move(limit.error()));
  return [caller = request.caller, worker = WorkerId(request.parameters[0]),
          most = std::min<size_t>(*limit, 100)](Backend& backend) {
    return jobs_of(backend, caller, worker, most);
  };
}

}  // namespace

void add_worker_routes(Routes& routes) {
  routes.push_back({Method::kGet,
                    "/api/v1/workers",
                    Access::kRead,
                    read_list,
                    {.operation = "listWorkers",
                     .summary = "The workers, by id",
                     .query = {"limit", "cursor", "pool"},
                     .answer = "WorkerList",
                     .problems = {400}}});
  routes.push_back(
      {Method::kGet,
       "/api/v1/workers/{id}",
       Access::kRead,
       read_one,
       {.operation = "getWorker", .summary = "One worker", .answer = "Worker", .problems = {404}}});
  routes.push_back({Method::kGet,
                    "/api/v1/workers/{id}/jobs",
                    Access::kRead,
                    read_jobs,
                    {.operation = "listWorkerJobs",
                     .summary = "The jobs that a worker has",
                     .query = {"limit"},
                     .answer = "JobItems",
                     .problems = {400, 404, 503}}});
}

}  // namespace fairlead::http
