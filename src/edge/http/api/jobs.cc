// Jobs: submit, cancel, cancel by filter.
#include <fmt/core.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/job_filter.h"
#include "edge/http/api/job_submit.h"
#include "edge/http/api/route.h"
#include "job/request.h"

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

// Who waits for the job's result, as a workflow does, gets one.
std::string cancelled_result(const job::Record& record, const std::string& reason, WallTime now) {
  namespace cap = cordum::agent::v1;
  cap::BusPacket packet = gateway_packet(record.trace, now);
  cap::JobResult& result = *packet.mutable_job_result();
  result.set_job_id(record.id.str());
  result.set_worker_id(record.assignee.empty() ? packet.sender_id() : record.assignee.str());
  result.set_status(cap::JOB_STATUS_CANCELLED);
  result.set_error_code(job::to_string(job::ReasonCode::kCancelled));
  result.set_error_message(reason);
  return job::serialise(packet);
}

// True when this call ended it.
Task<Result<bool>> cancel_and_tell(Backend& backend, store::Snapshot record, std::string reason) {
  Result<bool> ended = co_await backend.scheduler.cancel(record->id, reason);
  if (ended && *ended) {
    (void)backend.bus.publish(std::string(bus::kResultSubject),
                              cancelled_result(*record, reason, backend.clock.wall()),
                              "cancelled:" + record->id.str());
  }
  co_return ended;
}

Task<Reply> cancel(Backend& backend, Caller caller, JobId job, std::string reason) {
  Result<store::Loaded> loaded = co_await backend.store.load(job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  if (!caller.sees(loaded->record->tenant)) co_return problem(403, "tenant access denied");

  Result<bool> ended = co_await cancel_and_tell(backend, loaded->record, reason);
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
  if (reason.empty()) reason = scheduler::kCancelledByRequest;
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
  // What has ended is not looked at.
  std::set<job::State> live;
  for (job::State state : job::kAllStates) {
    const bool named = bulk.filter.states.empty() || bulk.filter.states.contains(state);
    if (named && !job::is_terminal(state)) live.insert(state);
  }
  bulk.filter.states = live;
  json::array matched, cancelled, failed;
  std::string cursor;
  bool more = false;
  std::vector<store::Snapshot> jobs;
  for (bool first = true; !live.empty() && (first || (!cursor.empty() && !more)); first = false) {
    auto page = co_await find_jobs(backend, bulk.filter, cursor, bulk.max + 1 - jobs.size());
    if (!page) co_return problem_of(page.error());
    for (job::Record& record : page->records) {
      if (jobs.size() == bulk.max) {
        more = true;
      } else {
        jobs.push_back(std::make_shared<const job::Record>(std::move(record)));
      }
    }
    cursor = std::move(page->next);
  }

  for (const store::Snapshot& job : jobs) {
    matched.emplace_back(job->id.str());
    if (bulk.dry_run) continue;
    Result<bool> ended = co_await cancel_and_tell(backend, job, bulk.reason);
    if (!ended) {
      failed.push_back(json::object{{"job_id", job->id.str()}, {"error", ended.error().message}});
    } else if (*ended) {
      cancelled.emplace_back(job->id.str());
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
  if (bulk.reason.empty()) bulk.reason = scheduler::kCancelledByRequest;
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
