#include "edge/http/api/dead_letter_json.h"

#include <fmt/core.h>

#include "cordum/agent/v1/job.pb.h"
#include "edge/http/api/job_submit.h"
#include "edge/http/api/text.h"

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
  while (true) {
    auto entries = co_await backend.store.dead_letters(cursor, limits::kScanMax);
    if (!entries) co_return std::unexpected(entries.error());
    for (store::DeadLetter& entry : *entries) {
      cursor = entry.job.str();
      if (!filter.takes(entry)) continue;
      if (page.entries.size() == limit) {
        page.next = page.entries.back().job.str();
        co_return page;
      }
      page.entries.push_back(std::move(entry));
    }
    if (entries->size() < limits::kScanMax) co_return page;
  }
}

Task<std::expected<std::string, Reply>> retry_dead_letter(Backend& backend,
                                                          store::DeadLetter entry) {
  const std::string& old = entry.job.str();
  if (entry.topic.empty()) {
    co_return std::unexpected(
        problem(400, "the entry has no topic: there is nothing to submit", "no_topic"));
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
  request.set_job_id(id);
  request.clear_dispatch();
  // The key belongs to the first job.
  request.mutable_meta()->clear_idempotency_key();
  auto& labels = *request.mutable_labels();
  labels["retry"] = "true";
  labels["dlq_entry"] = old;
  labels["retry_of_job"] = old;
  if (*context) request.set_context_ptr(pointer_to(context_key(id)));

  auto publishing = backend.bus.publish(
      std::string(bus::kSubmitSubject),
      submit_packet(std::move(request), TraceId("dlq-retry-" + old), backend.clock.wall()), {});
  if (*context) {
    auto kept = co_await backend.store.put_blob(
        context_key(id), {(*context)->bytes, backend.clock.wall() + limits::kEndedJobTtl},
        store::BlobCondition::kAlways);
    if (!kept) co_return std::unexpected(problem_of(kept.error()));
  }
  Result<bus::Published> published = co_await std::move(publishing);
  if (!published) co_return std::unexpected(problem_of(published.error()));
  if (*published == bus::Published::kRefused) {
    co_return std::unexpected(std::move(
        problem(429, "the queue of jobs is full", "BACKPRESSURE").with("Retry-After", "1")));
  }
  if (*published == bus::Published::kUnknown) {
    co_return std::unexpected(problem_of({ErrorCode::kUnknown, "the bus did not answer"}));
  }
  auto erased = co_await backend.store.erase_dead_letter(entry.job);
  if (!erased) co_return std::unexpected(problem_of(erased.error()));
  co_return id;
}

}  // namespace fairlead::http
