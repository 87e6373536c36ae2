#include "scheduler/hand_over.h"

#include <algorithm>

#include "base/planted.h"
#include "job/backoff.h"
#include "routing/placement.h"
#include "scheduler/ending.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

using job::ReasonCode;
using job::State;

Task<void> HandOver::publish(WalkerPtr walker, store::Snapshot record, std::string subject,
                             std::shared_ptr<const routing::Route> route) {
  std::string token = std::move(walker->token);
  if (!leases_.may_publish(token)) {
    // Somebody else may be at it by now. The mark stays, so a sweep resolves it.
    leases_.release(record->id, token);
    co_return;
  }
  const MonotonicTime began = walker->began;
  const bool repeat = walker->same_worker;
  Result<bus::Published> published = bus::Published::kStored;
  if (!planted(PlantedBug::kPublishBeforeCommit)) {
    auto [packet, tells_constraints] = dispatch_packet(
        *record, walker->request_bytes, replica_.clock.wall(), walker->effective_config);
    if (!tells_constraints) replica_.metrics.add(Counter::kConstraintsSerialiseFailed);
    std::string id = dispatch_id(record->id, record->epoch);
    walker.reset();
    if (planted(PlantedBug::kEpochPublishedTwice)) {
      published = co_await replica_.bus.publish(subject, packet, id);
      if (published && *published == bus::Published::kStored) packet.clear();
    }
    if (!packet.empty()) {
      auto publishing = replica_.bus.publish(std::move(subject), std::move(packet), std::move(id));
      published = co_await std::move(publishing);
    }
  }
  if (!published) {
    if (published.error().code == ErrorCode::kCancelled) co_return;  // the mark stays
    co_return co_await give_up(std::move(token), std::move(record), published.error());
  }
  switch (*published) {
    case bus::Published::kStored:
      replica_.metrics.add(Counter::kJobsDispatched, replica_.label_of(record->topic));
      replica_.metrics.observe(Histogram::kDispatchLatency, replica_.clock.monotonic() - began,
                               replica_.label_of(record->topic));
      co_return co_await commit_running(std::move(token), std::move(record));
    case bus::Published::kRefused:
      if (repeat && worker_may_have(*record)) {
        replica_.metrics.add(Counter::kDispatchRetry, replica_.label_of(record->topic), "publish");
        if (replica_.has_bus()) replica_.registry.refused(record->assignee);
        leases_.release(record->id, token);  // the mark and the slots stay
        co_return;
      }
      co_return co_await roll_back(std::move(token), std::move(record), std::move(route));
    case bus::Published::kUnknown:
      replica_.metrics.add(Counter::kDispatchRetry, replica_.label_of(record->topic), "publish");
      leases_.release(record->id, token);
      co_return co_await look_for_end(std::move(record));
  }
}

store::Change HandOver::running_change(const job::Record& record, const std::string& lease) {
  store::Change change;
  change.guard = {record.revision, lease};
  change.release_lease = !lease.empty();
  change.path = {State::kRunning};
  change.may_be_put_off = true;
  *change.next = record;
  job::Record& next = *change.next;
  next.state = State::kRunning;
  next.publish_pending = false;
  next.approval.reset();  // it was for one dispatch, and that has happened
  next.updated_at = replica_.clock.wall();
  next.due = next.updated_at + replica_.settings.timeouts_of(next.topic).running;
  job::add_event(next, next.updated_at, {});
  return change;
}

// Drops the mark. A result, a cancel or a timeout may have come first, and then it is theirs. While
// the store is away nobody else may hand the job out again, so the lease is kept.
Task<void> HandOver::commit_running(std::string token, store::Snapshot record) {
  std::string lease = token;
  for (int conflicts = 0; conflicts < limits::kConflictRetriesMax;) {
    auto committing = commits_.commit(running_change(*record, lease));
    Result<store::Receipt> receipt = co_await std::move(committing);
    if (!receipt) {
      if (receipt.error().code == ErrorCode::kCancelled) co_return;
      if (receipt.error().code == ErrorCode::kCorrupt) {
        // Nothing that is tried will mend it. Its timeout ends it, if anything does.
        replica_.log.error("a dispatch that was published cannot be noted",
                           {{"job_id", record->id.str()}, {"error", receipt.error().message}});
        break;
      }
      if (!co_await replica_.loop.delay(limits::kRetryStore)) co_return;
      continue;
    }
    if (std::holds_alternative<store::Applied>(*receipt)) {
      leases_.ended(token);
      co_return;
    }
    auto* conflict = std::get_if<store::Conflict>(&*receipt);
    if (!conflict || !conflict->now) break;
    ++conflicts;
    const job::Record& now = *conflict->now;
    // Also where only the lease is lost: a store that went back may have another record by now.
    if (now.epoch != record->epoch || !now.publish_pending) {
      co_await tell_if_over(*record, now);
      break;
    }
    if (conflict->lease_lost) lease.clear();  // it is published all the same: say so
    record = std::move(conflict->now);
  }
  leases_.release(record->id, token);
}

namespace {

// Whether the job is over, and not by what the worker of this dispatch said.
bool ended_without(const job::Record& dispatched, const job::Record& now) {
  if (!job::is_terminal(now.state)) return false;
  const job::OpenEpoch epoch{dispatched.epoch, dispatched.assignee};
  if (std::ranges::find(now.open_epochs, epoch) != now.open_epochs.end()) return true;
  const bool by_a_worker = now.state == State::kSucceeded ||
                           now.reason == ReasonCode::kWorkerReported ||
                           now.reason == ReasonCode::kMaxRetriesExceeded;
  return !by_a_worker;
}

}  // namespace

// It may have reached its worker after the end, of which that was told before (H-36).
Task<void> HandOver::tell_if_over(const job::Record& dispatched, const job::Record& now) {
  if (!ended_without(dispatched, now)) co_return;
  (void)co_await replica_.bus.publish(
      std::string(bus::kCancelSubject),
      cancel_packet(now.id, "the job ended before it started", replica_.clock.wall()), {});
}

Task<void> HandOver::look_for_end(store::Snapshot dispatched) {
  Result<store::Loaded> loaded = co_await replica_.store.load(dispatched->id, {});
  if (loaded && loaded->record) co_await tell_if_over(*dispatched, *loaded->record);
}

// The bus will never take it, such as one that is too large for it: the same walk would lead here
// again.
Task<void> HandOver::give_up(std::string token, store::Snapshot record, Error error) {
  replica_.log.error("dispatch cannot be published",
                     {{"job_id", record->id.str()}, {"error", error.message}});
  store::Change change = ending_change(
      *record, {}, {State::kFailed, ReasonCode::kDispatchFailed, {}, std::move(error.message)},
      replica_.clock.wall());
  change.guard.lease = token;
  change.release_lease = true;
  Result<store::Receipt> receipt = co_await commits_.commit_ending(std::move(change));
  if (receipt && std::holds_alternative<store::Applied>(*receipt)) {
    leases_.ended(token);
  } else {
    leases_.release(record->id, token);  // the mark stays, and leads here again
  }
}

store::Change HandOver::rollback_change(const job::Record& record, const std::string& lease,
                                        Duration pause) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  change.guard = {record.revision, lease};
  change.release_lease = true;
  change.claim_from = commits_.room_left_by(record);
  change.path = {State::kScheduled};
  *change.next = record;
  job::Record& next = *change.next;
  next.state = State::kScheduled;
  next.updated_at = now;
  --next.deliveries;
  next.publish_pending = false;
  next.due = now + pause;
  if (replica_.has_bus()) {
    ++next.attempts;
    next.wait = {ReasonCode::kPublishFailed, "the bus refused the dispatch", {}, now};
  } else {
    // It went away while the dispatch was committed: this was no attempt.
    next.attempts -= next.attempts > 0;
    next.wait = {ReasonCode::kPublishFailed, "the bus is away", {}, now};
  }
  job::add_event(next, now, "rollback: publish");
  return change;
}

// Of a repeat that was refused: that says nothing of the epochs before, which its worker may run
// while it lives. One that does not listen gets a few, and by then has told how much it runs.
bool HandOver::worker_may_have(const job::Record& record) const {
  auto elsewhere = [&](const job::OpenEpoch& open) { return open.worker != record.assignee; };
  const auto& open = record.open_epochs;
  const auto given = std::ranges::find_if(open.rbegin(), open.rend(), elsewhere) - open.rbegin();
  if (given == 0) return false;
  if (!replica_.has_bus()) return true;
  return given <= limits::kRefusedRepeatsMax &&
         (replica_.presence.is_young() ||
          replica_.registry.alive(record.assignee, replica_.clock.monotonic()));
}

Task<void> HandOver::roll_back(std::string token, store::Snapshot record,
                               std::shared_ptr<const routing::Route> route) {
  const std::string topic(replica_.label_of(record->topic));
  replica_.metrics.add(Counter::kDispatchRetry, topic, "publish");
  bool at_once = false;
  Duration pause = limits::kRetryBus;
  if (replica_.has_bus()) {
    replica_.registry.refused(record->assignee);
    // Who has just refused is not tried at once.
    at_once = record->attempts < limits::kAtOnceAttemptsMax &&
              replica_.registry.candidates(*route, {}).best != nullptr;
    pause = at_once ? Duration(0) : job::backoff(record->attempts, replica_.jitter());
  }
  Result<store::Receipt> receipt = co_await commits_.commit(rollback_change(*record, token, pause));
  if (auto* applied = receipt ? std::get_if<store::Applied>(&*receipt) : nullptr) {
    replica_.metrics.add(Counter::kDispatchRollback, topic);
    leases_.ended(token);
    if (at_once) again_(*applied->record);
    co_return;
  }
  // The mark stays in the record, so a sweep finds it within seconds.
  if (!receipt) {
    replica_.log.error("dispatch rollback failed",
                       {{"job_id", record->id.str()}, {"error", receipt.error().message}});
    replica_.metrics.add(Counter::kDispatchRollbackFailures, topic);
    replica_.metrics.add(Counter::kDispatchRetry, topic, "rollback_write");
  }
  leases_.release(record->id, token);
}

}  // namespace fairlead::scheduler
