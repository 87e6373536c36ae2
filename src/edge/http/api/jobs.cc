// Jobs: submit, cancel, cancel by filter.
#include <fmt/core.h>

#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/job_filter.h"
#include "edge/http/api/job_submit.h"
#include "edge/http/api/route.h"

namespace fairlead::http {

namespace {

std::expected<Call, Reply> read_submit(Request& request, ReadTools& tools) {
  auto submission = read_submission(request, tools);
  if (!submission) return std::unexpected(std::move(submission.error()));
  return [submission = *std::move(submission)](Backend& backend) mutable {
    return submit(backend, std::move(submission));
  };
}

// --- Cancel --------------------------------------------------------------------------------------

Task<Reply> cancel(Backend& backend, Caller caller, JobId job, std::string reason) {
  Result<store::Loaded> loaded = co_await backend.store.load(job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  if (!caller.sees(loaded->record->tenant)) co_return problem(403, "tenant access denied");

  Result<bool> ended = co_await backend.scheduler.cancel(job, reason);
  if (!ended) co_return problem_of(ended.error());
  if (*ended) {
    co_return reply_json(200, {{"id", job.str()}, {"state", "CANCELLED"}});
  }
  loaded = co_await backend.store.load(job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  co_return reply_json(200, {{"id", job.str()},
                             {"state", job::to_string(loaded->record->state)},
                             {"reason", "job already terminal"}});
}

std::expected<Call, Reply> read_cancel(Request& request, ReadTools&) {
  auto body = parse_body(request.body);
  if (!body) return std::unexpected(problem(400, body.error().message, "invalid_json"));
  Fields fields(*body, Fields::Unknown::kRefused);
  std::string reason = fields.text("reason", limits::kReasonBytesMax);
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  if (reason.empty()) reason = "cancelled by a call";
  return [caller = request.caller, job = JobId(request.parameters[0]),
          reason = std::move(reason)](Backend& backend) mutable {
    return cancel(backend, std::move(caller), std::move(job), std::move(reason));
  };
}

// --- Cancel by filter ----------------------------------------------------------------------------

struct BulkCancel {
  JobFilter filter;
  bool dry_run = false;
  size_t max = 0;
  std::string reason;
};

Task<Reply> cancel_all(Backend& backend, BulkCancel bulk) {
  if (bulk.filter.states.empty()) {
    for (job::State state : job::kAllStates) {
      if (!job::is_terminal(state)) bulk.filter.states.insert(state);
    }
  }
  json::array matched, cancelled;
  json::array failed;
  std::string cursor;
  bool more = false;
  std::vector<JobId> jobs;
  do {
    auto page = co_await find_jobs(backend, bulk.filter, cursor, bulk.max + 1 - jobs.size());
    if (!page) co_return problem_of(page.error());
    for (job::Record& record : page->records) {
      if (jobs.size() == bulk.max) {
        more = true;
      } else if (!job::is_terminal(record.state)) {
        jobs.push_back(std::move(record.id));
      }
    }
    cursor = std::move(page->next);
  } while (!cursor.empty() && !more && jobs.size() <= bulk.max);

  for (const JobId& job : jobs) {
    matched.emplace_back(job.str());
    if (bulk.dry_run) continue;
    Result<bool> ended = co_await backend.scheduler.cancel(job, bulk.reason);
    if (!ended) {
      failed.push_back(json::object{{"job_id", job.str()}, {"error", ended.error().message}});
    } else if (*ended) {
      cancelled.emplace_back(job.str());
    }
  }
  co_return reply_json(200, {{"dry_run", bulk.dry_run},
                             {"matched", matched.size()},
                             {"job_ids", std::move(matched)},
                             {"cancelled", cancelled.size()},
                             {"failed", std::move(failed)},
                             {"more", more}});
}

std::expected<Call, Reply> read_cancel_all(Request& request, ReadTools&) {
  auto body = parse_body(request.body);
  if (!body) return std::unexpected(problem(400, body.error().message, "invalid_json"));
  Fields fields(*body, Fields::Unknown::kRefused);
  BulkCancel bulk;
  std::optional<Reply> denied;
  const json::value* given = fields.any("filter");
  json::value none = json::object{};
  Fields filter(given ? *given : none, Fields::Unknown::kRefused, "filter");
  bulk.filter = read_filter(filter, request.caller, denied);
  bulk.dry_run = fields.flag("dry_run");
  bulk.max = static_cast<size_t>(fields.number("max", 1, limits::kBulkMax).value_or(100));
  bulk.reason = fields.text("reason", limits::kReasonBytesMax);
  if (bulk.reason.empty()) bulk.reason = "cancelled by a bulk call";
  if (auto wrong = filter.problem()) return std::unexpected(*std::move(wrong));
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  if (denied) return std::unexpected(*std::move(denied));
  if (!given) {
    return std::unexpected(problem(
        400, "filter is missing: say which jobs, or {} for every live one", "invalid_request"));
  }
  return [bulk = std::move(bulk)](Backend& backend) mutable {
    return cancel_all(backend, std::move(bulk));
  };
}

}  // namespace

void add_job_routes(Routes& routes) {
  routes.push_back({Method::kPost,
                    "/api/v1/jobs",
                    Access::kWrite,
                    read_submit,
                    {.operation = "submitJob",
                     .summary = "Submit a job",
                     .body = "SubmitJobRequest",
                     .answer = "SubmitJobResponse",
                     .problems = {400, 403, 409, 413, 429, 503}}});
  routes.push_back({Method::kPost,
                    "/api/v1/jobs/{id}/cancel",
                    Access::kWrite,
                    read_cancel,
                    {.operation = "cancelJob",
                     .summary = "Cancel a job",
                     .body = "CancelJobRequest",
                     .answer = "CancelJobResponse",
                     .problems = {400, 403, 404, 503}}});
  routes.push_back({Method::kPost,
                    "/api/v1/jobs/cancel",
                    Access::kWrite,
                    read_cancel_all,
                    {.operation = "cancelJobs",
                     .summary = "Cancel the jobs that a filter takes; a dry run only names them",
                     .body = "BulkCancelRequest",
                     .answer = "BulkCancelResponse",
                     .problems = {400, 403, 503}}});
}

}  // namespace fairlead::http
