// A route: what a method on a path means. Reading a request is done on the thread that got it, and
// needs nothing but the request; what it asks for is a Call, which is run on the loop.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"
#include "runtime/clock.h"
#include "runtime/random.h"
#include "runtime/task.h"

namespace fairlead::http {

using Call = std::move_only_function<Task<Reply>(Backend&)>;

// What reading may use, of the reading thread's own.
struct ReadTools {
  Random& random;
  const Clock& clock;
};

using Reader = std::expected<Call, Reply> (*)(Request& request, ReadTools& tools);

// Who may call a route: anybody, or callers of at least a role; what is every tenant's is changed
// by admins whose key is bound to none.
enum class Access { kPublic, kRead, kWrite, kAdmin, kCrossTenantAdmin };

// What the published description (openapi.h) says of a route beside its path. Schemas are named;
// "" is an answer without a body.
struct Described {
  const char* operation = "";
  const char* summary = "";
  std::vector<const char*> query;
  const char* body = "";
  int status = 200;
  const char* answer = "";
  std::vector<int> problems;
};

struct Route {
  Method method = Method::kGet;
  const char* pattern = "";  // "/api/v1/jobs/{id}"
  Access access = Access::kAdmin;
  Reader read = nullptr;
  Described described;
  // How long its caller waits.
  Duration patience = limits::kHttpCallTimeout;
};

using Routes = std::vector<Route>;

// Where jobs are submitted: their size has a limit of its own.
inline constexpr std::string_view kSubmitPath = "/api/v1/jobs";

void add_job_routes(Routes& routes);
void add_job_reading_routes(Routes& routes);
void add_job_result_routes(Routes& routes);
void add_placement_routes(Routes& routes);
void add_dead_letter_routes(Routes& routes);
void add_worker_routes(Routes& routes);
void add_pool_routes(Routes& routes);
void add_topic_routes(Routes& routes);
void add_queue_routes(Routes& routes);
void add_status_routes(Routes& routes);
void add_memory_routes(Routes& routes);
void add_stream_routes(Routes& routes);
void add_description_routes(Routes& routes);

// What probes of a scheduler ask, beside its metrics.
Routes scheduler_probes();

}  // namespace fairlead::http
