#include "scheduler/revisits.h"

#include <algorithm>
#include <memory>

#include "base/planted.h"
#include "job/backoff.h"
#include "routing/placement.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

using job::State;

static Duration pause_after(const Walked& walked) {
  return walked.outcome == Outcome::kFailed ? limits::kRetryStore : walked.pause;
}

Task<Duration> Revisits::revisit(JobId job, Revision found) {
  auto taken = co_await leases_.take(job, true, Duration(0));
  if (!taken) {
    // Somebody is at it, or the store is away.
    co_return LeaseKeeper::is_busy(taken.error()) ? limits::kRetryBusy : limits::kRetryStore;
  }
  const store::Snapshot& record = taken->loaded.record;
  if (!record || job::is_terminal(record->state)) {
    leases_.release(job, taken->token);
    co_return Duration(0);
  }
  WalkerPtr walker = walker_of(*std::move(taken));
  if (!walker->packet->has_job_request()) {
    co_await ends_.end(*walker, unreadable_request());
    co_return Duration(0);
  }
  switch (walker->record.state) {
    case State::kDispatched:
      if (walker->record.publish_pending && !planted(PlantedBug::kGateAcknowledgesDispatchedAway)) {
        co_return pause_after(co_await resolve_unpublished(std::move(walker)));
      }
      break;
    case State::kPending:
    case State::kScheduled:
    case State::kRetrying:
      if (walker->record.revision == found) {
        if (!walker->record.wait) {
          // Nobody told it to wait: who walked it is gone.
          replica_.metrics.add(Counter::kOrphanReplayed, replica_.label_of(walker->record.topic));
        }
        co_return pause_after(co_await dispatch_.advance(std::move(walker)));
      }
      break;
    case State::kRunning:
    case State::kApprovalRequired:
    case State::kSucceeded:
    case State::kFailed:
    case State::kTimeout:
    case State::kCancelled:
    case State::kDenied:
    case State::kOutputQuarantined:
      break;
  }
  leases_.release(job, walker->token);
  co_return Duration(0);
}

// A bus that never says what became of a dispatch is asked less and less often: each time hands the
// job out once more.
static Duration pause_between(const job::Record& record) {
  const size_t unknown = record.open_epochs.size();
  return unknown == 0 ? Duration(0) : job::backoff(static_cast<int64_t>(unknown), Duration(0));
}

Task<Walked> Revisits::resolve_unpublished(WalkerPtr walker) {
  const job::Record& record = walker->record;
  // One that was dispatched later than now was so before the clock was set back.
  const Duration age = replica_.clock.wall() - record.dispatched_at;
  const Duration early = age < Duration(0) ? Duration(0) : pause_between(record) - age;
  if (early > Duration(0)) co_return ends_.stay(*walker, std::min(early, limits::kRetryOut));
  Result<std::optional<bool>> found = co_await replica_.bus.stored(
      routing::direct_subject(record.assignee), dispatch_id(record.id, record.epoch));
  if (!found) {
    leases_.release(record.id, walker->token);
    co_return failed(found.error());
  }
  if (*found && **found) {
    replica_.registry.hold(record.id, record.assignee);
    co_await hand_over_.commit_running(
        std::move(walker->token), std::make_shared<const job::Record>(std::move(walker->record)));
    co_return Walked{Outcome::kDispatched, {}};
  }
  if (replica_.presence.is_young() &&
      !replica_.registry.alive(record.assignee, replica_.clock.monotonic())) {
    // Its worker may live and have it. The mark stays, so a sweep looks again.
    leases_.release(record.id, walker->token);
    co_return Walked{Outcome::kWaits, {}};
  }
  co_return co_await dispatch_.advance(std::move(walker));
}

}  // namespace fairlead::scheduler
