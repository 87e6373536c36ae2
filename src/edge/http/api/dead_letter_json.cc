#include "edge/http/api/dead_letter_json.h"

#include <fmt/core.h>

#include "cordum/agent/v1/job.pb.h"
#include "edge/http/api/job_submit.h"
#include "edge/http/api/text.h"
#include "job/request.h"
#include "store/cursor.h"

namespace fairlead::http {

json::object dead_letter_json(const store::DeadLetter& entry) {
  return {{"job_id", entry.job.str()},
          {"topic", entry.topic.str()},
          {"tenant", entry.tenant.str()},
          {"status", entry.status},
          {"reason", entry.reason},
          {"reason_code", entry.reason_code},
          {"last_state", entry.last_state},
          {"attempts", entry.attempts},
          {"created_at", rfc3339(entry.created_at)}};
}

bool DeadLetterFilter::takes(const store::DeadLetter& entry) const {
  return (topic.empty() || topic == entry.topic.str()) &&
         (reason_code.empty() || reason_code == entry.reason_code) &&
         (!tenant || *tenant == entry.tenant) &&
         (!created_after || entry.created_at >= *created_after) &&
         (!created_before || entry.created_at <= *created_before) &&
         (jobs.empty() || jobs.contains(entry.job.str()));
}

Task<Result<DeadLetterPage>> find_dead_letters(Backend& backend, DeadLetterFilter filter,
                                               std::string cursor, size_t limit) {
  DeadLetterPage page;
  for (size_t visits = 0; visits < limits::kListVisitsMax; visits += limits::kScanMax) {
    auto entries = co_await backend.store.dead_letters(cursor, limits::kScanMax);
    if (!entries) co_return std::unexpected(entries.error());
    for (store::DeadLetter& entry : *entries) {
      cursor = store::to_cursor(store::position_of(entry));
      if (!filter.takes(entry)) continue;
      if (page.entries.size() == limit) {
        page.next = store::to_cursor(store::position_of(page.entries.back()));
        co_return page;
      }
      page.entries.push_back(std::move(entry));
    }
    if (entries->size() < limits::kScanMax) co_return page;
  }
  page.next = std::move(cursor);
  co_return page;
}

// The request as that of a new job. Labels that tell where it comes from are left out where a
// request has no room for them.
static Result<void> make_retry(cordum::agent::v1::JobRequest& request, const std::string& id,
                               const std::string& old) {
  request.set_job_id(id);
  request.clear_dispatch();
  // The key belongs to the first job.
  request.mutable_meta()->clear_idempotency_key();
  const std::initializer_list<std::pair<const char*, std::string>> added = {
      {"retry", "true"}, {"dlq_entry", old}, {"retry_of_job", old}};
  auto& labels = *request.mutable_labels();
  for (const auto& [name, value] : added) labels[name] = value;
  if (job::validate(request)) return {};
  for (const auto& [name, value] : added) labels.erase(name);
  return job::validate(request);
}

Task<std::expected<std::string, Reply>> retry_dead_letter(Backend& backend,
                                                          store::DeadLetter entry) {
  const std::string& old = entry.job.str();
  if (entry.topic.empty()) {
    co_return std::unexpected(
        problem(400, "the entry has no topic: there is nothing to submit", "no_topic"));
  }
  if (auto refused = topic_refused(backend, entry.topic)) {
    co_return std::unexpected(*std::move(refused));
  }
  Result<store::Loaded> loaded =
      co_await backend.store.load(entry.job, {.with_request = true, .lease = {}});
  if (!loaded) co_return std::unexpected(problem_of(loaded.error()));
  cordum::agent::v1::JobRequest request;
  if (loaded->request.empty() || !request.ParseFromString(loaded->request)) {
    co_return std::unexpected(
        problem(409, "the job of the entry is no longer kept: submit it anew", "job_gone"));
  }
  auto context = co_await backend.store.blob(context_key(old));
  if (!context) co_return std::unexpected(problem_of(context.error()));

  std::string mark = hex(sha256(old + "\n" + std::to_string(to_micros(entry.created_at))));
  std::string id = fmt::format("{}-retry-{}", old, mark.substr(0, 8));
  if (id.size() > limits::kJobIdBytesMax) id = named_uuid(id);
  TraceId trace("dlq-retry-" + old);
  if (trace.str().size() > limits::kTraceIdBytesMax)
    trace = TraceId("dlq-retry-" + named_uuid(old));
  if (*context) request.set_context_ptr(pointer_to(context_key(id)));
  if (auto valid = make_retry(request, id, old); !valid) {
    co_return std::unexpected(problem(400, valid.error().message, "invalid_request"));
  }

  if (*context) {
    auto kept = co_await backend.store.put_blob(
        context_key(id), {(*context)->bytes, backend.clock.wall() + backend.context_ttl},
        store::BlobCondition::kAlways);
    if (!kept) co_return std::unexpected(problem_of(kept.error()));
  }
  Result<bus::Published> published =
      co_await hand_in(backend, submit_packet(std::move(request), trace, backend.clock.wall()));
  if (!published) co_return std::unexpected(problem_of(published.error()));
  if (*published == bus::Published::kRefused) co_return std::unexpected(queue_full());
  if (*published == bus::Published::kUnknown) {
    co_return std::unexpected(problem_of({ErrorCode::kUnknown, "the bus did not answer"}));
  }
  // The entry goes when the job is there, and not before.
  auto record = co_await admitted(backend, JobId(id));
  if (!record) co_return std::unexpected(problem_of(record.error()));
  if (!*record) co_return std::unexpected(not_admitted(JobId(id), trace));
  auto erased = co_await backend.store.erase_dead_letter(entry.job);
  if (!erased) co_return std::unexpected(problem_of(erased.error()));
  co_return id;
}

}  // namespace fairlead::http
