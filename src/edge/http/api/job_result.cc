// The result of a job as its worker stored it: bytes, not JSON about them.
#include <fmt/core.h>

#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

Task<Reply> result(Backend& backend, Caller caller, JobId job) {
  Result<store::Loaded> loaded = co_await backend.store.load(job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  const job::Record& record = *loaded->record;
  if (!caller.sees(record.tenant)) co_return problem(403, "tenant access denied");
  const char* state = job::to_string(record.state);
  if (!job::is_terminal(record.state)) {
    co_return problem(409, fmt::format("the job has not ended, it is {}", state), "not_ended",
                      {{"state", state}});
  }
  const std::string key(key_of_pointer(record.result_ptr));
  if (key.empty() || record.state == job::State::kDenied) {
    co_return problem(404, fmt::format("the job is {} and has no result", state), "no_result",
                      {{"state", state}, {"error_message", record.error_message}});
  }
  auto blob = co_await backend.store.blob(key, limits::kResultBytesMax);
  if (!blob) co_return problem_of(blob.error());
  if (!*blob) {
    co_return problem(404, fmt::format("{} leads to nothing any more", record.result_ptr),
                      "result_gone", {{"state", state}});
  }
  const size_t size = (*blob)->size;
  if (size > limits::kResultBytesMax) {
    co_return problem(413,
                      fmt::format("the result has {} bytes, at most {} are sent: fetch {} from the "
                                  "payload listener",
                                  size, limits::kResultBytesMax, key),
                      "payload_too_large");
  }
  Reply reply;
  reply.content_type = "application/octet-stream";
  reply.body = std::move((*blob)->bytes);
  co_return reply;
}

std::expected<Call, Reply> read_result(Request& request, ReadTools&) {
  return [caller = request.caller, job = JobId(request.parameters[0])](Backend& backend) {
    return result(backend, caller, job);
  };
}

}  // namespace

void add_job_result_routes(Routes& routes) {
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}/result",
                    Access::kRead,
                    read_result,
                    {.operation = "getJobResult",
                     .summary = "The result of a job that has ended, as it was stored",
                     .answer = "application/octet-stream",
                     .problems = {403, 404, 409, 413, 503}}});
}

}  // namespace fairlead::http
