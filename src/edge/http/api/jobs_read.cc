// Jobs: one, lists, traces, decisions, timeline.
#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/job_filter.h"
#include "edge/http/api/job_json.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

// Shows a stored payload within an answer: as JSON when it is, else as text. It is null when it is
// gone, elsewhere or too large to be shown, and when it is no text: then it stands beside it, in
// base64.
void show_payload(json::object& shown, const std::string& name,
                  const std::optional<store::Blob>& blob) {
  shown[name] = nullptr;
  if (!blob || blob->bytes.size() > limits::kPayloadShownBytesMax) return;
  json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  boost::system::error_code error;
  json::value value = json::parse(blob->bytes, error, {}, options);
  if (!error) {
    shown[name] = std::move(value);
  } else if (is_utf8(blob->bytes)) {
    shown[name] = blob->bytes;
  } else {
    shown[name + "_base64"] = base64(blob->bytes);
  }
}

Task<Result<std::optional<store::Blob>>> payload_at(Backend& backend, std::string_view pointer) {
  std::string key(key_of_pointer(pointer));
  if (key.empty()) co_return std::optional<store::Blob>{};
  co_return co_await backend.store.blob(std::move(key));
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
  bool denied = job->record.state == job::State::kDenied;
  co_return reply_later(200, [job = *std::move(job), context = *std::move(context),
                              result = *std::move(result), about, denied] {
    json::object shown = job_detail(job, about.times_as_text);
    show_payload(shown, "context", context);
    show_payload(shown, "result", denied ? std::nullopt : result);
    return json::value(std::move(shown));
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
  auto jobs = co_await with_requests(backend, std::move(page->records));
  if (!jobs) co_return problem_of(jobs.error());
  co_return reply_later(200, [jobs = *std::move(jobs), next = std::move(page->next),
                              as_text = listing.times_as_text] {
    json::object body;
    body["items"] = job_items(jobs, as_text);
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
  auto jobs = co_await with_requests(backend, std::move(page->records));
  if (!jobs) co_return problem_of(jobs.error());
  Reply reply = reply_later(200, [jobs = *std::move(jobs), as_text = listing.times_as_text] {
    return json::value(job_items(jobs, as_text));
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
