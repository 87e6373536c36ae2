// Health and status. Health is asked without a key, by probes; it touches the store, so that a
// store that does not answer shows.
#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

using job::State;

Task<bool> store_answers(Backend& backend) {
  auto blob = co_await backend.store.blob("fairlead:health");
  co_return blob.has_value();
}

Reply checked(bool store_ok, const char* good) {
  const char* store = store_ok ? "ok" : "unavailable";
  json::object body{{"status", store_ok ? good : "degraded"},
                    {"checks", {{"store", store}, {"bus", "ok"}}},
                    {"nats", "ok"},
                    {"redis", store}};
  if (!store_ok) body["error"] = "the store does not answer";
  return reply_json(store_ok ? 200 : 503, body);
}

Task<Reply> health(Backend& backend) {
  co_return checked(co_await store_answers(backend), "healthy");
}
Task<Reply> ready(Backend& backend) {
  co_return checked(co_await store_answers(backend), "ok");
}
Task<Reply> live(Backend&) {
  co_return reply_json(200, {{"status", "ok"}, {"checks", {{"loop", "ok"}}}});
}

template <Task<Reply> (*kHandler)(Backend&)>
std::expected<Call, Reply> read_plain(Request&, ReadTools&) {
  return [](Backend& backend) { return kHandler(backend); };
}

// --- Status --------------------------------------------------------------------------------------

uint64_t ended(const scheduler::Metrics& metrics, State state) {
  return metrics.value(scheduler::Counter::kJobsCompleted, {}, scheduler::status_name(state));
}

Task<Reply> status(Backend& backend, bool admin) {
  json::object pipeline;
  struct Live {
    const char* name;
    State state;
  };
  for (Live live :
       {Live{"pending", State::kPending}, Live{"scheduled", State::kScheduled},
        Live{"dispatched", State::kDispatched}, Live{"running", State::kRunning},
        Live{"retrying", State::kRetrying}, Live{"approval_required", State::kApprovalRequired}}) {
    pipeline[live.name] = backend.store.live_in(live.state);
  }
  const scheduler::Metrics& metrics = backend.scheduler.metrics();
  for (Live over : {Live{"succeeded", State::kSucceeded}, Live{"failed", State::kFailed},
                    Live{"denied", State::kDenied}, Live{"cancelled", State::kCancelled},
                    Live{"timeout", State::kTimeout}}) {
    pipeline[over.name] = ended(metrics, over.state);
  }
  Duration up = backend.clock.monotonic() - backend.started;
  WallTime now = backend.clock.wall();
  json::object body{
      {"time", rfc3339(now)},
      {"uptime_seconds", std::chrono::duration_cast<std::chrono::seconds>(up).count()},
      {"active_ws_clients", backend.stream_readers()},
      {"nats_status", "embedded"},
      {"build",
       {{"version", backend.build.version},
        {"commit", backend.build.commit},
        {"date", backend.build.date}}},
      {"nats", {{"connected", true}, {"status", "embedded"}}},
      {"redis", {{"ok", true}, {"status", "embedded"}}},
      {"workers", {{"count", backend.scheduler.registry().size()}}},
      {"pipeline", std::move(pipeline)},
      // Live states are counted now, the ended ones since then.
      {"pipeline_ended_since", rfc3339(now - up)}};
  if (admin) {
    body["instance_id"] = backend.scheduler.name();
    body["handlers_in_flight"] = backend.scheduler.in_hand();
    body["input_fail_open_total"] = metrics.value(scheduler::Counter::kInputFailOpen);
  }
  co_return reply_json(200, body);
}

std::expected<Call, Reply> read_status(Request& request, ReadTools&) {
  return [admin = request.caller.role == Role::kAdmin](Backend& backend) {
    return status(backend, admin);
  };
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
