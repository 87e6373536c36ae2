#include "worker/run_history.h"

#include "base/check.h"

namespace fairlead::worker {

namespace {

bool may_run_again(cap::JobStatus status) {
  return status == cap::JOB_STATUS_FAILED_RETRYABLE || status == cap::JOB_STATUS_CANCELLED;
}

}  // namespace

RunHistory::Verdict RunHistory::arrives(const cap::JobRequest& request) {
  auto [at, is_new] = seen_.try_emplace(request.job_id());
  Seen& seen = at->second;
  if (is_new) {
    seen.dispatch = request.dispatch();
    return Verdict::kRun;
  }
  const uint64_t epoch = request.dispatch().attempt();
  const bool newer = epoch > seen.dispatch.attempt();
  // A scheduler that counts no epochs sends a job again only when it wants it again.
  const bool uncounted = epoch == 0 && seen.dispatch.attempt() == 0;
  if (seen.in_hand) {
    if (newer) seen.dispatch = request.dispatch();
    return Verdict::kIgnore;
  }
  if (!newer && !uncounted) return Verdict::kIgnore;
  seen.dispatch = request.dispatch();
  if (may_run_again(seen.result.status())) {
    seen.in_hand = true;
    seen.result.Clear();
    return Verdict::kRun;
  }
  *seen.result.mutable_dispatch() = seen.dispatch;
  if (seen.dispatch.attempt() == 0) seen.result.clear_dispatch();
  return Verdict::kReplay;
}

const cap::JobResult& RunHistory::ended(cap::JobResult result) {
  auto at = seen_.find(result.job_id());
  check(at != seen_.end() && at->second.in_hand, "a job that ends was in hand");
  Seen& seen = at->second;
  seen.in_hand = false;
  seen.end_number = ++ends_;
  ended_.emplace_back(result.job_id(), seen.end_number);
  if (seen.dispatch.attempt() > 0) *result.mutable_dispatch() = seen.dispatch;
  seen.result = std::move(result);
  while (ended_.size() > remembered_max_) forget_oldest();
  return seen.result;
}

void RunHistory::forget_oldest() {
  auto [job, number] = std::move(ended_.front());
  ended_.pop_front();
  auto at = seen_.find(job);
  // It may be in hand again, or have ended again since.
  if (at != seen_.end() && !at->second.in_hand && at->second.end_number == number) seen_.erase(at);
}

}  // namespace fairlead::worker
