// Health and status. Health is asked without a key, by probes; it touches the store, so that a
// store that does not answer shows.
#include <boost/json/parse.hpp>

#include "base/text.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

using job::State;

// What is wrong with the store; empty: nothing.
Task<std::string> store_problem(Backend& backend) {
  auto blob = co_await backend.store.blob("fairlead:health");
  if (!blob) co_return "the store does not answer";
  co_return backend.servers().redis_problem;
}

std::string bus_problem(const Servers& servers) {
  return servers.nats ? servers.nats_problem : "there is no connection to NATS";
}

const char* word_of(const Servers& servers, bool connected) {
  if (servers.embedded) return "embedded";
  return connected ? "connected" : "disconnected";
}

Task<Reply> checked(Backend& backend, const char* good) {
  const std::string store_error = co_await store_problem(backend);
  const std::string bus_error = bus_problem(backend.servers());
  const bool store_ok = store_error.empty();
  const bool bus_ok = bus_error.empty();
  const char* store = store_ok ? "ok" : "unavailable";
  const char* bus = bus_ok ? "ok" : "unavailable";
  const bool ok = store_ok && bus_ok && !backend.stopping;
  json::object body{{"status", ok ? good : "degraded"},
                    {"checks", {{"store", store}, {"bus", bus}}},
                    {"nats", bus},
                    {"redis", store}};
  if (backend.stopping) body["error"] = "the server is stopping";
  if (!bus_ok) body["error"] = bus_error;
  if (!store_ok) body["error"] = store_error;
  co_return reply_json(ok ? 200 : 503, body);
}

json::object told(const std::string& problem) {
  json::object object{{"ok", problem.empty()}, {"status", problem.empty() ? "ok" : "unavailable"}};
  if (!problem.empty()) object["error"] = problem;
  return object;
}

// As the scheduler of the Go services tells it: a kernel that cannot be asked is only told of.
Task<Reply> scheduler_health(Backend& backend) {
  const std::string store_error = co_await store_problem(backend);
  const Servers servers = backend.servers();
  const std::string bus_error = bus_problem(servers);
  const bool ok = store_error.empty() && bus_error.empty() && !backend.stopping;
  json::object safety = servers.safety_problem ? told(*servers.safety_problem)
                                               : json::object{{"ok", true}, {"status", "none"}};
  co_return reply_json(ok ? 200 : 503, {{"status", ok ? "ok" : "degraded"},
                                        {"redis", told(store_error)},
                                        {"nats", told(bus_error)},
                                        {"safety", std::move(safety)}});
}

Task<Reply> health(Backend& backend) {
  return checked(backend, "healthy");
}
Task<Reply> ready(Backend& backend) {
  return checked(backend, "ok");
}
Task<Reply> live(Backend&) {
  co_return reply_json(200, {{"status", "ok"}, {"checks", {{"loop", "ok"}}}});
}

template <Task<Reply> (*kHandler)(Backend&)>
std::expected<Call, Reply> read_plain(Request&, ReadTools&) {
  return [](Backend& backend) { return kHandler(backend); };
}

// --- Status --------------------------------------------------------------------------------------

// Jobs that are kept, by state; the ended ones until their time is over. For one tenant those that
// are live: nobody counts the ended ones by tenant.
Task<json::object> pipeline(Backend& backend, const Caller& caller) {
  json::object counts;
  if (caller.all_tenants) {
    for (State state : job::kAllStates) {
      counts[lower(job::to_string(state))] = backend.store.jobs_in(state);
    }
    co_return counts;
  }
  Result<store::Queues> live = co_await backend.store.queues();
  if (!live) co_return counts;  // the answer tells that the store is not there
  for (State state : job::kAllStates) {
    if (job::is_terminal(state)) continue;
    size_t own = 0;
    for (const store::Queue& queue : live->all) own += caller.sees(queue.tenant) * queue.in(state);
    counts[lower(job::to_string(state))] = own;
  }
  co_return counts;
}

// When the workers were written down for others to read, and by whom. One that is alone knows them.
Task<json::object> snapshot_meta(Backend& backend, bool embedded) {
  json::object meta{{"writer_id", backend.scheduler.name()},
                    {"captured_at", rfc3339(backend.clock.wall())}};
  if (embedded) co_return meta;
  auto blob = co_await backend.store.blob("sys:workers:snapshot");
  json::value snapshot;
  boost::system::error_code error;
  if (blob && *blob) snapshot = json::parse((*blob)->bytes, error);
  for (auto& [name, value] : meta) {
    const json::object* fields = snapshot.if_object();
    const json::value* told = fields ? fields->if_contains(name) : nullptr;
    value = told ? *told : json::value(nullptr);
  }
  co_return meta;
}

Task<void> add_for_admins(Backend& backend, const Servers& servers, json::object& body) {
  const scheduler::Scheduler& scheduler = backend.scheduler;
  body["instance_id"] = scheduler.name();
  body["handlers_in_flight"] = scheduler.in_hand();
  body["input_fail_open_total"] = scheduler.metrics().value(scheduler::Counter::kInputFailOpen);
  body["rate_limiter"] = {{"mode", "memory"}};
  body["circuit_breakers"] = {{"input", scheduler.gate().circuit()}, {"output", "none"}};
  body["ha_env"] = {{"mode", servers.embedded ? "single" : "cluster"}};
  body["snapshot_meta"] = co_await snapshot_meta(backend, servers.embedded);
  if (servers.embedded) body["replicas"] = 1;
}

Task<json::object> status_now(Backend& backend, const Caller& caller) {
  Duration up = backend.clock.monotonic() - backend.started;
  const Servers servers = backend.servers();
  const char* nats = word_of(servers, servers.nats);
  json::object jobs = co_await pipeline(backend, caller);
  json::object body{
      {"time", rfc3339(backend.clock.wall())},
      {"uptime_seconds", std::chrono::duration_cast<std::chrono::seconds>(up).count()},
      {"goroutine_count", backend.scheduler.in_hand()},
      {"active_ws_clients", backend.stream_readers()},
      {"nats_status", nats},
      // Calls share one connection: there is no pool.
      {"redis_pool_stats",
       {{"hits", 0},
        {"misses", 0},
        {"timeouts", 0},
        {"total_conns", !servers.embedded && servers.redis ? 1 : 0},
        {"idle_conns", 0},
        {"stale_conns", 0}}},
      {"build",
       {{"version", backend.build.version},
        {"commit", backend.build.commit},
        {"date", backend.build.date}}},
      {"nats", {{"connected", servers.nats}, {"status", nats}}},
      {"redis", {{"ok", servers.redis}, {"status", word_of(servers, servers.redis)}}},
      {"workers", {{"count", backend.scheduler.registry().size()}}},
      {"pipeline", std::move(jobs)},
      {"license", {{"tier", "unlimited"}, {"license", "Apache-2.0"}, {"expires_at", nullptr}}}};
  if (caller.role == Role::kAdmin) co_await add_for_admins(backend, servers, body);
  co_return body;
}

// Dashboards ask often, and many at once. What one tenant is told is not kept for others.
Task<Reply> status(Backend& backend, Caller caller) {
  const MonotonicTime now = backend.clock.monotonic();
  Backend::Cached& cached = backend.status[caller.role == Role::kAdmin];
  const bool hit = caller.all_tenants && now < cached.until;
  Reply reply;
  if (hit) {
    reply.body = cached.body;
  } else {
    reply = reply_json(200, co_await status_now(backend, caller));
    if (caller.all_tenants) cached = {reply.body, now + limits::kStatusFor};
  }
  co_return std::move(reply.with("X-Cache", hit ? "HIT" : "MISS"));
}

std::expected<Call, Reply> read_status(Request& request, ReadTools&) {
  return [caller = request.caller](Backend& backend) { return status(backend, caller); };
}

Route probe(const char* pattern, Access access, Reader read, const char* operation) {
  return {Method::kGet,
          pattern,
          access,
          read,
          {.operation = operation,
           .summary = "Whether the server works",
           .answer = "Health",
           .problems = {503}},
          limits::kHttpHealthTimeout};
}

}  // namespace

Routes scheduler_probes() {
  return {probe("/health", Access::kPublic, read_plain<scheduler_health>, "schedulerHealth"),
          probe("/readyz", Access::kPublic, read_plain<scheduler_health>, "schedulerReadyz"),
          probe("/healthz", Access::kPublic, read_plain<live>, "schedulerHealthz"),
          probe("/livez", Access::kPublic, read_plain<live>, "schedulerLivez")};
}

void add_status_routes(Routes& routes) {
  routes.push_back(probe("/health", Access::kPublic, read_plain<health>, "health"));
  routes.push_back(probe("/healthz", Access::kPublic, read_plain<live>, "healthz"));
  routes.push_back(probe("/readyz", Access::kPublic, read_plain<ready>, "readyz"));
  routes.push_back(probe("/livez", Access::kPublic, read_plain<live>, "livez"));
  routes.push_back(probe("/api/v1/health", Access::kRead, read_plain<health>, "apiHealth"));
  routes.push_back({Method::kGet,
                    "/api/v1/status",
                    Access::kRead,
                    read_status,
                    {.operation = "getStatus",
                     .summary = "The server, its workers and its jobs in numbers",
                     .answer = "Status",
                     .problems = {503}}});
}

}  // namespace fairlead::http
