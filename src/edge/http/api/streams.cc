// Opening a stream of events: of everything, or of one job.
#include <boost/json/serialize.hpp>

#include "edge/http/api/backend.h"
#include "edge/http/api/event_json.h"
#include "edge/http/api/route.h"

namespace fairlead::http {

namespace {

Task<Reply> open_all(Backend& backend, Caller caller) {
  backend.stream_opening();
  Reply reply;
  reply.content_type = "text/event-stream";
  reply.stream = StreamWish{.all_tenants = caller.all_tenants, .tenant = caller.tenant};
  co_return reply;
}

std::expected<Call, Reply> read_all(Request& request, ReadTools&) {
  return [caller = request.caller](Backend& backend) { return open_all(backend, caller); };
}

// Begins with what the job is now, so that one who comes late does not wait for what has been.
Task<Reply> open_one(Backend& backend, Caller caller, JobId job) {
  const uint64_t tapped = backend.stream_opening();
  Result<store::Loaded> loaded = co_await backend.store.load(job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  if (!caller.sees(loaded->record->tenant)) co_return problem(403, "tenant access denied");
  Reply reply;
  reply.content_type = "text/event-stream";
  reply.stream = StreamWish{.all_tenants = caller.all_tenants,
                            .tenant = loaded->record->tenant,
                            .job = job.str(),
                            .first_event = kStatusChanged,
                            .first_data = json::serialize(status_event(*loaded->record)),
                            .first_revision = loaded->record->revision.value(),
                            .tapped_before = tapped};
  co_return reply;
}

std::expected<Call, Reply> read_one(Request& request, ReadTools&) {
  return [caller = request.caller, job = JobId(request.parameters[0])](Backend& backend) {
    return open_one(backend, caller, job);
  };
}

}  // namespace

void add_stream_routes(Routes& routes) {
  // Of everything, by any method, as clients expect it.
  struct Way {
    Method method;
    const char* operation;
  };
  for (Way way : {Way{Method::kGet, "stream"}, Way{Method::kPost, "streamByPost"},
                  Way{Method::kPut, "streamByPut"}, Way{Method::kPatch, "streamByPatch"},
                  Way{Method::kDelete, "streamByDelete"}}) {
    routes.push_back({way.method,
                      "/api/v1/stream",
                      Access::kAdmin,
                      read_all,
                      {.operation = way.operation,
                       .summary = "Events, as server-sent events or over a WebSocket",
                       .query = {"tenant_id", "last_event_id"},
                       .answer = "text/event-stream"}});
  }
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}/stream",
                    Access::kRead,
                    read_one,
                    {.operation = "streamJob",
                     .summary = "Events of one job, beginning with what it is now",
                     .query = {"tenant_id", "last_event_id"},
                     .answer = "text/event-stream",
                     .problems = {403, 404, 503}}});
}

}  // namespace fairlead::http
