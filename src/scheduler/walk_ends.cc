#include "scheduler/walk_ends.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/planted.h"
#include "job/backoff.h"
#include "scheduler/worker_choice.h"

namespace fairlead::scheduler {

using job::ReasonCode;
using job::State;

Task<Walked> WalkEnds::finish(Walker& walker, store::Change change, Outcome outcome) {
  bool ending = job::is_terminal(change.next->state);
  bool left = walker.claim &&
              (!change.next->wait || change.next->wait->wait_class != walker.claim->wait_class);
  change.guard.lease = walker.token;
  change.release_lease = true;
  if (walker.held_slots) change.claim_from = commits_.room_left_by(walker.record);
  if (walker.stores_request()) change.request = std::move(walker.request_bytes);
  change.consumed = walker.consumed;
  change.mark = walker.mark;
  change.was_in_flight = walker.was_in_flight;
  Result<store::Receipt> receipt = ending ? co_await commits_.commit_ending(std::move(change))
                                          : co_await commits_.commit(std::move(change));
  if (auto* applied = receipt ? std::get_if<store::Applied>(&*receipt) : nullptr) {
    if (walker.admitted) *walker.admitted = std::move(applied->record);
    leases_.ended(walker.token);
    co_return Walked{outcome, {}, {}, left};
  }
  co_return not_applied(walker, receipt);
}

Walked WalkEnds::not_applied(const Walker& walker, const Result<store::Receipt>& receipt) {
  leases_.release(walker.record.id, walker.token);
  if (!receipt) return failed(receipt.error());
  if (std::holds_alternative<store::DuplicateKey>(*receipt)) {
    replica_.metrics.add(Counter::kIdempotencyDuplicates);
    return {Outcome::kEnded, {}};
  }
  if (std::holds_alternative<store::Refused>(*receipt)) return {Outcome::kEnded, {}};
  return {Outcome::kLost, {}};
}

Task<Walked> WalkEnds::end(Walker& walker, Ending ending) {
  if (walker.record.history.empty()) {
    job::add_event(walker.record, walker.record.created_at, "submitted");
  }
  WallTime now = replica_.clock.wall();
  store::Change change = ending_change(walker.record, walker.path, std::move(ending), now);
  if (may_be_with_a_worker(walker.record)) {
    change.messages.push_back(cancel_message(walker.record.id, change.next->error_message, now));
  }
  co_return co_await finish(walker, std::move(change), Outcome::kEnded);
}

Task<Walked> WalkEnds::give_up(Walker& walker, ReasonCode reason) {
  std::string message =
      fmt::format("max scheduling retries exceeded (attempts={})", walker.record.attempts);
  co_return co_await end(walker, {State::kFailed, reason, {}, std::move(message)});
}

// Its worker may have it, and lives: it must not leave its slots to others.
bool WalkEnds::may_be_out(const Walker& walker) const {
  if (planted(PlantedBug::kRepeatGivesUpItsSlot)) return false;
  if (planted(PlantedBug::kRepeatQueuesBehind)) return false;
  return walker.held_slots && repeats(replica_, walker);
}

Walked WalkEnds::stay(const Walker& walker, Duration pause) {
  leases_.release(walker.record.id, walker.token);
  return {Outcome::kWaits, {}, pause};
}

store::Change WalkEnds::waiting_change(const Walker& walker, WallTime now) const {
  store::Change change;
  if (!walker.is_new()) change.guard.revision = walker.record.revision;
  change.path = walker.path;
  *change.next = walker.record;
  job::Record& next = *change.next;
  if (next.history.empty()) job::add_event(next, next.created_at, "submitted");
  next.updated_at = now;
  next.publish_pending = false;
  return change;
}

Task<Walked> WalkEnds::wait(Walker& walker, ReasonCode reason, std::string detail,
                            std::string wait_class) {
  WallTime now = replica_.clock.wall();
  job::Record& record = walker.record;
  if (record.attempts >= limits::kSchedulingAttemptsMax) {
    co_return co_await give_up(walker, reason);
  }
  bool same_class = record.wait && record.wait->wait_class == wait_class;
  if (same_class && walker.path.empty() && record.wait->reason == reason) {
    // Nothing to write: its attempts follow from the time it began to wait.
    leases_.release(record.id, walker.token);
    if (walker.claim) {
      Duration next_try = walker.next_attempt;
      if (replica_.presence.is_young()) next_try = std::min(next_try, limits::kBackoffBase);
      (void)co_await replica_.store.unclaim(record.id, next_try + replica_.jitter());
    }
    co_return Walked{Outcome::kWaits, {}};
  }

  store::Change change = waiting_change(walker, now);
  job::Record& next = *change.next;
  job::Wait waits{reason, detail.substr(0, limits::kReasonBytesMax), wait_class, now, now};
  if (waits_in_class(record)) {
    // Its place and its schedule stay: to wait for another thing is no attempt.
    waits.since = walker.wait_base;
    waits.queued_at = job::place_in_line(*record.wait);
    next.attempts = walker.attempts_at_base;
    next.due = now + walker.next_attempt + replica_.jitter();
  } else {
    next.due = now + job::backoff(next.attempts, replica_.jitter());
    ++next.attempts;
  }
  next.wait = std::move(waits);
  job::add_event(next, now, job::to_string(reason));
  Walked walked = co_await finish(walker, std::move(change), Outcome::kWaits);
  if (walked.outcome == Outcome::kWaits) {
    commits_.joined(std::move(wait_class), now);
  }
  co_return walked;
}

// Of those who wait the first is tried now and then. It goes behind the others each time: it may be
// the one that policy cannot be asked about.
Task<Walked> WalkEnds::wait_for_policy(Walker& walker, std::string detail, Duration pause) {
  if (may_be_out(walker)) co_return stay(walker, pause);
  constexpr auto kReason = ReasonCode::kSafetyUnavailable;
  WallTime now = replica_.clock.wall();
  store::Change change = waiting_change(walker, now);
  job::Record& next = *change.next;
  bool first = !next.wait || next.wait->reason != kReason;
  next.wait = {kReason, detail.substr(0, limits::kReasonBytesMax), std::string(kPolicyClass), now,
               now};
  next.due = now + pause;
  if (first) job::add_event(next, now, job::to_string(kReason));
  co_return co_await finish(walker, std::move(change), Outcome::kWaits);
}

Task<Walked> WalkEnds::queue_for_policy(Walker& walker) {
  // Who waits for something else keeps its place there.
  if (!walker.claim) {
    co_return co_await wait_for_policy(walker, "policy is asked about other jobs",
                                       limits::kRetryBusy);
  }
  leases_.release(walker.record.id, walker.token);
  (void)co_await replica_.store.unclaim(walker.record.id, limits::kRetryBusy);
  co_return Walked{Outcome::kWaits, {}};
}

Task<Walked> WalkEnds::pause(Walker& walker, ReasonCode reason, std::string detail,
                             Duration delay) {
  if (may_be_out(walker)) co_return stay(walker, delay);
  WallTime now = replica_.clock.wall();
  store::Change change = waiting_change(walker, now);
  job::Record& next = *change.next;
  next.due = now + delay;
  if (!next.wait || next.wait->reason != reason) {
    next.wait = {reason, detail.substr(0, limits::kReasonBytesMax), {}, now};
    job::add_event(next, now, job::to_string(reason));
  }
  next.wait->wait_class.clear();
  co_return co_await finish(walker, std::move(change), Outcome::kWaits);
}

Task<Walked> WalkEnds::park_for_approval(Walker& walker) {
  if (may_be_out(walker)) co_return stay(walker, limits::kRetryOut);
  WallTime now = replica_.clock.wall();
  store::Change change = waiting_change(walker, now);
  change.path.push_back(State::kApprovalRequired);
  job::Record& next = *change.next;
  next.state = State::kApprovalRequired;
  next.due.reset();
  next.wait.reset();
  job::add_event(next, now, next.decision.reason);
  co_return co_await finish(walker, std::move(change), Outcome::kWaits);
}

}  // namespace fairlead::scheduler
