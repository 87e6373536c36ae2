// Jobs: one, lists, traces, decisions, timeline.
#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/job_filter.h"
#include "edge/http/api/job_json.h"
#include "edge/http/api/json_text.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

// What lies behind a pointer.
struct Payload {
  size_t size = 0;
  std::optional<std::string> bytes;  // none: it is gone, elsewhere or too large to be shown

  size_t held() const { return bytes ? size : 0; }
};

Task<Result<Payload>> payload_at(Backend& backend, std::string_view pointer) {
  std::string key(key_of_pointer(pointer));
  if (key.empty()) co_return Payload{};
  Result<std::optional<store::Blob>> blob =
      co_await backend.store.blob(std::move(key), limits::kPayloadShownBytesMax);
  if (!blob) co_return std::unexpected(blob.error());
  if (!*blob) co_return Payload{};
  Payload payload{(*blob)->size, {}};
  if (payload.size <= limits::kPayloadShownBytesMax) payload.bytes = std::move((*blob)->bytes);
  co_return payload;
}

// Shows a payload within an answer: as JSON when it is, which is not built, for that may be slow;
// else as text. What is no text stands beside it in base64, of what is too large the size.
void show_payload(std::string& shown, const std::string& name, const Payload& payload) {
  if (!payload.bytes) {
    add_member(shown, name, "null");
    if (payload.size > 0) add_member(shown, name + "_size_bytes", std::to_string(payload.size));
    return;
  }
  const std::string& bytes = *payload.bytes;
  if (is_json(bytes)) return add_member(shown, name, bytes);
  if (is_utf8(bytes)) return add_member(shown, name, text_of(json::value(bytes)));
  add_member(shown, name, "null");
  add_member(shown, name + "_base64", text_of(json::value(base64(bytes))));
}

struct Asked {
  Caller caller;
  JobId job;
  bool times_as_text = false;
};

Asked asked(const Request& request) {
  return {request.caller, JobId(request.parameters[0]), request.openapi_profile()};
}

// The job that is asked for, if the caller may see it.
Task<std::expected<ShownJob, Reply>> find_job(Backend& backend, const Asked& about) {
  Result<store::Loaded> loaded =
      co_await backend.store.load(about.job, {.with_request = true, .lease = {}});
  if (!loaded) co_return std::unexpected(problem_of(loaded.error()));
  if (!loaded->record) co_return std::unexpected(problem(404, "job not found"));
  if (!about.caller.sees(loaded->record->tenant)) {
    co_return std::unexpected(problem(403, "tenant access denied"));
  }
  co_return ShownJob{*std::move(loaded->record), std::move(loaded->request)};
}

// --- One job -------------------------------------------------------------------------------------

Task<Reply> get_job(Backend& backend, Asked about) {
  auto job = co_await find_job(backend, about);
  if (!job) co_return std::move(job.error());
  auto context = co_await payload_at(backend, context_key(about.job.str()));
  if (!context) co_return problem_of(context.error());
  auto result = co_await payload_at(backend, job->record.result_ptr);
  if (!result) co_return problem_of(result.error());
  if (job->record.state == job::State::kDenied) *result = {};
  const size_t bytes = job->bytes() + context->held() + result->held();
  co_return reply_text_later(200, bytes,
                             [job = *std::move(job), context = *std::move(context),
                              result = *std::move(result), as_text = about.times_as_text] {
                               std::string shown = text_of(job_detail(job, as_text));
                               show_payload(shown, "context", context);
                               show_payload(shown, "result", result);
                               return shown;
                             });
}

std::expected<Call, Reply> read_get(Request& request, ReadTools&) {
  return [about = asked(request)](Backend& backend) { return get_job(backend, about); };
}

Task<Reply> decisions(Backend& backend, Asked about, size_t limit) {
  auto job = co_await find_job(backend, about);
  if (!job) co_return std::move(job.error());
  co_return reply_json(200, job_decisions(job->record, limit));
}

std::expected<Call, Reply> read_decisions(Request& request, ReadTools&) {
  auto limit = page_limit(request, 50);
  if (!limit) return std::unexpected(std::move(limit.error()));
  return [about = asked(request), most = *limit](Backend& backend) {
    return decisions(backend, about, most);
  };
}

Task<Reply> timeline(Backend& backend, Asked about) {
  auto job = co_await find_job(backend, about);
  if (!job) co_return std::move(job.error());
  co_return reply_json(200, {{"job_id", about.job.str()},
                             {"state", job::to_string(job->record.state)},
                             {"items", job_timeline(job->record)}});
}

std::expected<Call, Reply> read_timeline(Request& request, ReadTools&) {
  return [about = asked(request)](Backend& backend) { return timeline(backend, about); };
}

// --- Lists ---------------------------------------------------------------------------------------

struct Listing {
  JobFilter filter;
  std::string cursor;
  size_t limit = 0;
  bool times_as_text = false;
};

Task<Reply> list_jobs(Backend& backend, Listing listing) {
  auto page = co_await find_jobs(backend, listing.filter, listing.cursor, listing.limit);
  if (!page) co_return problem_of(page.error());
  auto rows = co_await job_rows(backend, std::move(page->records));
  if (!rows) co_return problem_of(rows.error());
  const size_t bytes = rows->bytes;
  co_return reply_later(
      200, bytes,
      [rows = *std::move(rows), next = std::move(page->next), as_text = listing.times_as_text] {
        json::object body;
        body["items"] = job_items(rows, as_text);
        body["next_cursor"] = next.empty() ? json::value(nullptr) : json::value(next);
        return json::value(std::move(body));
      });
}

std::expected<Call, Reply> read_list(Request& request, ReadTools&) {
  Listing listing;
  auto filter = read_filter(request);
  if (!filter) return std::unexpected(std::move(filter.error()));
  listing.filter = *std::move(filter);
  auto cursor = read_cursor(request);
  if (!cursor) return std::unexpected(std::move(cursor.error()));
  listing.cursor = *std::move(cursor);
  auto limit = page_limit(request, 50);
  if (!limit) return std::unexpected(std::move(limit.error()));
  listing.limit = *limit;
  listing.times_as_text = request.openapi_profile();
  return [listing = std::move(listing)](Backend& backend) mutable {
    return list_jobs(backend, std::move(listing));
  };
}

// A bare list, as clients expect it: what follows a long one is told in a header.
Task<Reply> trace(Backend& backend, Listing listing) {
  auto page = co_await find_jobs(backend, listing.filter, listing.cursor, listing.limit);
  if (!page) co_return problem_of(page.error());
  auto rows = co_await job_rows(backend, std::move(page->records));
  if (!rows) co_return problem_of(rows.error());
  const size_t bytes = rows->bytes;
  Reply reply = reply_later(200, bytes, [rows = *std::move(rows), as_text = listing.times_as_text] {
    return json::value(job_items(rows, as_text));
  });
  if (!page->next.empty()) reply.with("X-Next-Cursor", page->next);
  co_return reply;
}

std::expected<Call, Reply> read_trace(Request& request, ReadTools&) {
  Listing listing;
  listing.filter.trace = request.parameters[0];
  if (!request.caller.all_tenants) listing.filter.tenant = request.caller.tenant;
  auto cursor = read_cursor(request);
  if (!cursor) return std::unexpected(std::move(cursor.error()));
  listing.cursor = *std::move(cursor);
  auto limit = page_limit(request, limits::kListPageMax);
  if (!limit) return std::unexpected(std::move(limit.error()));
  listing.limit = *limit;
  listing.times_as_text = request.openapi_profile();
  return [listing = std::move(listing)](Backend& backend) mutable {
    return trace(backend, std::move(listing));
  };
}

}  // namespace

void add_job_reading_routes(Routes& routes) {
  routes.push_back({Method::kGet,
                    "/api/v1/jobs",
                    Access::kRead,
                    read_list,
                    {.operation = "listJobs",
                     .summary = "List jobs, most recently changed first",
                     .query = {"limit", "cursor", "state", "topic", "tenant", "team", "trace_id",
                               "updated_after", "updated_before"},
                     .answer = "JobList",
                     .problems = {400, 403, 503}}});
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}",
                    Access::kRead,
                    read_get,
                    {.operation = "getJob",
                     .summary = "Everything about one job",
                     .answer = "JobDetail",
                     .problems = {403, 404, 503}}});
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}/decisions",
                    Access::kRead,
                    read_decisions,
                    {.operation = "listJobDecisions",
                     .summary = "What policy said of the job",
                     .query = {"limit"},
                     .answer = "DecisionList",
                     .problems = {400, 403, 404, 503}}});
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}/timeline",
                    Access::kRead,
                    read_timeline,
                    {.operation = "getJobTimeline",
                     .summary = "Every step the job took",
                     .answer = "JobTimeline",
                     .problems = {403, 404, 503}}});
  routes.push_back({Method::kGet,
                    "/api/v1/traces/{id}",
                    Access::kRead,
                    read_trace,
                    {.operation = "getTrace",
                     .summary = "The jobs of a trace, oldest first; X-Next-Cursor tells of more",
                     .query = {"limit", "cursor"},
                     .answer = "JobArray",
                     .problems = {400, 503}}});
}

}  // namespace fairlead::http
