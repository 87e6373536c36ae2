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
  json::array topics(report.ready_topics.begin(), report.ready_topics.end());
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
          {"ready_topics", std::move(topics)},
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

struct WorkersJobs {
  Caller caller;
  WorkerId worker;
  size_t limit = 0;
  bool times_as_text = false;
};

// Those it has, and those it had last.
Task<Reply> jobs_of(Backend& backend, WorkersJobs asked) {
  store::Query query;
  query.only.worker = asked.worker.str();
  if (!asked.caller.all_tenants) query.only.tenant = asked.caller.tenant.str();
  std::vector<job::Record> found;
  for (size_t visits = 0; visits < limits::kListVisitsMax;) {
    query.limit = asked.limit - found.size();
    auto page = co_await backend.store.scan(query);
    if (!page) co_return problem_of(page.error());
    std::ranges::move(page->records, std::back_inserter(found));
    visits += std::max<size_t>(1, page->visited);
    query.cursor = std::move(page->next);
    if (query.cursor.empty() || found.size() >= asked.limit) break;
  }
  if (found.empty() && !backend.scheduler.registry().find(asked.worker)) {
    co_return problem(404, "worker not found");
  }
  auto rows = co_await job_rows(backend, std::move(found));
  if (!rows) co_return problem_of(rows.error());
  const size_t bytes = rows->bytes;
  co_return reply_later(200, bytes, [rows = *std::move(rows), as_text = asked.times_as_text] {
    return json::value{{"items", job_items(rows, as_text)}};
  });
}

std::expected<Call, Reply> read_jobs(Request& request, ReadTools&) {
  auto limit = page_limit(request, 20);
  if (!limit) return std::unexpected(std::move(limit.error()));
  WorkersJobs asked{request.caller, WorkerId(request.parameters[0]), std::min<size_t>(*limit, 100),
                    request.openapi_profile()};
  return [asked = std::move(asked)](Backend& backend) { return jobs_of(backend, asked); };
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
                     .summary = "The jobs that a worker has, and those it had last",
                     .query = {"limit"},
                     .answer = "JobItems",
                     .problems = {400, 404, 503}}});
}

}  // namespace fairlead::http
