#include "scheduler/dispatch.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/planted.h"
#include "base/text.h"
#include "job/backoff.h"
#include "job/request.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

namespace {

using job::ReasonCode;
using job::State;

// A pool that is busy is not one that is failing: its schedule of attempts begins again whenever a
// job of the class was dispatched.
bool restarts_with_class(ReasonCode reason) {
  return reason == ReasonCode::kPoolOverloaded || reason == ReasonCode::kTenantLimit;
}

// Nobody tried before this replica started: that time made no attempts. Who was not claimed does
// not know whether its class moved.
WallTime wait_base(const Walker& walker, WallTime started_at, WallTime now) {
  const job::Wait& wait = *walker.record.wait;
  WallTime base = std::max(wait.since, started_at);
  if (!restarts_with_class(wait.reason)) return base;
  return walker.claim ? std::max(base, walker.claim->class_dispatched_at) : now;
}

// A job that waits in a class has made the attempts that its schedule says.
bool waits_in_class(const job::Record& record) {
  return record.wait && !record.wait->wait_class.empty();
}

Walked failed(Error error) {
  return {Outcome::kFailed, std::move(error)};
}

// Of a job that was stored: without a request when that cannot be read.
WalkerPtr walker_of(LeaseKeeper::Taken taken) {
  auto walker = std::make_unique<Walker>();
  walker->token = std::move(taken.token);
  walker->record = *taken.loaded.record;
  walker->request_bytes = std::move(taken.loaded.request);
  cap::JobRequest& request = *walker->packet->mutable_job_request();
  if (request.ParseFromString(walker->request_bytes)) {
    job::trim_names(request);
  } else {
    walker->packet->clear_job_request();
  }
  return walker;
}

Ending unreadable_request() {
  return {State::kFailed, ReasonCode::kDispatchFailed, {}, "the stored request cannot be read"};
}

// Of a job that finds its worker at once: submitted, scheduled, dispatched, running, ended.
constexpr size_t kUsualHistory = 5;

}  // namespace

routing::RememberedRoutes::Answer route_of(Replica& replica, const job::Record& record,
                                           const cap::JobRequest& request) {
  routing::Labels labels;
  for (const auto& [name, value] : request.labels()) labels.emplace(name, value);
  const auto& needs = request.meta().requires_();
  return replica.routes.resolve(replica.pools,
                                {record.topic, {needs.begin(), needs.end()}, &labels});
}

// --- The walk ------------------------------------------------------------------------------------

Task<Walked> Dispatch::advance(WalkerPtr owned) {
  Walker& walker = *owned;
  begin(walker, replica_.clock.wall());
  job::Record& record = walker.record;
  // Who waits for a worker is looked for one first: wait() gives it up.
  bool waits = record.state == State::kPending || waits_in_class(record);
  if (!waits && record.attempts >= limits::kSchedulingAttemptsMax) {
    bool unpublished = record.wait && record.wait->reason == ReasonCode::kPublishFailed;
    co_return co_await give_up(
        walker, unpublished ? ReasonCode::kDispatchFailed : ReasonCode::kMaxSchedulingRetries);
  }

  if (std::optional<Walked> stopped = co_await judge(walker)) co_return *std::move(stopped);

  auto route = route_of(replica_, record, walker.request());
  if (!route) {
    routing::Refusal& refusal = route.error();
    if (refusal.hint) count_hints({*refusal.hint});
    replica_.log.warning(refusal.detail, {{"job_id", record.id.str()}});
    co_return co_await end(walker, {State::kFailed, refusal.code, {}, refusal.detail});
  }
  walker.deadline_ms = walker.request().budget().deadline_ms();
  walker.packet.reset();
  co_return co_await place(std::move(owned), *std::move(route));
}

// Takes the record to where a walk starts: SCHEDULED for a dispatch that has to be made anew.
void Dispatch::begin(Walker& walker, WallTime now) {
  job::Record& record = walker.record;
  walker.began = replica_.clock.monotonic();
  if (walker.is_new()) {
    walker.path = {State::kPending};
    return;
  }
  if (waits_in_class(record)) {
    walker.wait_base = wait_base(walker, replica_.started_at, now);
    walker.attempts_at_base = record.attempts;
    Duration waited = std::max(Duration(0), now - walker.wait_base);
    uint32_t attempts = job::attempts_after(record.attempts, waited);
    walker.next_attempt = job::next_attempt_at(record.attempts, attempts) - waited;
    record.attempts = attempts;
  }
  if (record.state == State::kDispatched) {
    record.open_epochs.push_back({record.epoch, record.assignee});
    if (record.open_epochs.size() > limits::kOpenEpochsMax) {
      record.open_epochs.erase(record.open_epochs.begin());
    }
    record.publish_pending = false;
    record.state = State::kScheduled;
    walker.path = {State::kScheduled};
    walker.same_worker = true;
    ++record.attempts;
    --record.deliveries;  // who has it can tell the next epoch from a new job
  } else if (record.state == State::kScheduled) {
    const auto& open = record.open_epochs;
    walker.same_worker = !open.empty() && open.back().epoch == record.epoch;
    ++record.attempts;
  }
}

// Asks policy. No value: the walk goes on.
Task<std::optional<Walked>> Dispatch::judge(Walker& walker) {
  job::Record& record = walker.record;
  Result<job::Decision> answer = co_await replica_.gate.check(walker.request(), record);
  if (!answer) {
    leases_.release(record.id, walker.token);
    co_return failed(answer.error());
  }
  record.decision = *std::move(answer);
  record.decision.checked_at = replica_.clock.wall();
  const std::string& topic = record.topic.str();
  const std::string reason = record.decision.reason;

  using Kind = job::Decision::Kind;
  switch (record.decision.kind) {
    case Kind::kAllow:
    case Kind::kAllowWithConstraints:
      break;
    case Kind::kUnavailable:
      replica_.metrics.add(Counter::kSafetyUnavailable, topic);
      if (!replica_.settings.safety_fail_open) {
        co_return co_await pause(walker, ReasonCode::kSafetyUnavailable, reason,
                                 limits::kRetrySafety);
      }
      replica_.metrics.add(Counter::kInputFailOpen, topic);
      replica_.log.warning("input policy fail-open: safety kernel unreachable",
                           {{"job_id", record.id.str()}, {"topic", topic}});
      break;
    case Kind::kThrottle:
      co_return co_await pause(walker, ReasonCode::kSafetyThrottled, reason, limits::kRetrySafety);
    case Kind::kRequireApproval:
      co_return co_await park_for_approval(walker);
    case Kind::kDeny:
      replica_.metrics.add(Counter::kSafetyDenied, topic);
      co_return co_await end(walker, {State::kDenied, ReasonCode::kSafetyDenied, {}, reason});
    case Kind::kNone:
    case Kind::kUnknown:
      replica_.metrics.add(Counter::kSafetyDenied, topic);
      co_return co_await end(walker, {State::kDenied, ReasonCode::kSafetyUnknown, {}, reason});
  }

  job::Limits limits = job::limits_of(record.decision.constraints);
  if (limits.max_retries > 0 &&
      record.deliveries >= static_cast<uint32_t>(limits.max_retries) + 1) {
    co_return co_await end(walker,
                           {State::kFailed,
                            ReasonCode::kMaxRetriesExceeded,
                            {},
                            fmt::format("max retries exceeded (attempts={}, max_retries={})",
                                        record.deliveries, limits.max_retries)});
  }
  if (limits.max_runtime_ms > 0) {
    WallTime latest = record.created_at + std::chrono::milliseconds(limits.max_runtime_ms);
    record.deadline = record.deadline ? std::min(*record.deadline, latest) : latest;
  }
  co_return std::nullopt;
}

Task<Walked> Dispatch::place(WalkerPtr owned, std::shared_ptr<const routing::Route> remembered) {
  const routing::Route& route = *remembered;
  Walker& walker = *owned;
  job::Record& record = walker.record;
  job::Limits limits = job::limits_of(record.decision.constraints);
  auto comes_from = [&](const std::string& wait_class) {
    return (walker.claim && walker.claim->wait_class == wait_class) ||
           (record.wait && record.wait->wait_class == wait_class);
  };

  // A new job queues behind those who wait for the same. One that its worker may have already holds
  // its slots, and must not leave them to others.
  bool queues = !repeats(walker) || planted(PlantedBug::kRepeatQueuesBehind);
  std::string own_tenant = tenant_class(record.tenant);
  if (queues && limits.max_concurrent_jobs > 0 && !comes_from(own_tenant) &&
      replica_.store.waiting_in(own_tenant) > 0) {
    co_return co_await wait(walker, ReasonCode::kTenantLimit, "behind other jobs of the tenant",
                            own_tenant);
  }
  if (queues && !comes_from(route.wait_class) && replica_.store.waiting_in(route.wait_class) > 0) {
    std::vector<WorkerId> none;
    int stale = 0;
    auto placed = pick(walker, route, none, stale);
    co_return co_await wait(
        walker, placed ? ReasonCode::kPoolOverloaded : placed.error().code,
        placed ? "behind other jobs that wait for the same workers" : placed.error().detail,
        route.wait_class);
  }

  std::vector<WorkerId> excluded;
  int stale = 0;
  for (int full = 0; full < limits::kFullWorkerPicksMax; ++full) {
    auto placed = pick(walker, route, excluded, stale);
    if (!placed) {
      // Those that the store calls full are there, only busy.
      bool busy = full > 0 && placed.error().code == ReasonCode::kNoWorkers;
      co_return co_await wait(walker, busy ? ReasonCode::kPoolOverloaded : placed.error().code,
                              placed.error().detail, route.wait_class);
    }
    Result<store::Receipt> receipt = co_await commit_dispatch(walker, *placed, limits);
    if (!receipt) {
      leases_.release(record.id, walker.token);
      co_return failed(receipt.error());
    }
    if (auto* applied = std::get_if<store::Applied>(&*receipt)) {
      replica_.nursery.spawn(
          hand_over(std::move(owned), std::move(applied->record), std::move(placed->subject)));
      co_return Walked{Outcome::kDispatched, {}};
    }
    auto* no_room = std::get_if<store::Full>(&*receipt);
    if (!no_room) {
      if (std::holds_alternative<store::DuplicateKey>(*receipt)) {
        replica_.metrics.add(Counter::kIdempotencyDuplicates);
        leases_.release(record.id, walker.token);
        co_return Walked{Outcome::kEnded, {}};
      }
      leases_.release(record.id, walker.token);
      co_return Walked{Outcome::kLost, {}};
    }
    if (no_room->slot == store::Full::Slot::kTenant) {
      co_return co_await wait(walker, ReasonCode::kTenantLimit,
                              fmt::format("{} of {} jobs of the tenant are out", no_room->held,
                                          limits.max_concurrent_jobs),
                              own_tenant);
    }
    excluded.push_back(placed->worker);
  }
  co_return co_await wait(walker, ReasonCode::kPoolOverloaded,
                          "pool_overloaded: " + route.wait_class, route.wait_class);
}

bool Dispatch::repeats(const Walker& walker) const {
  return walker.same_worker &&
         replica_.registry.alive(walker.record.assignee, replica_.clock.monotonic());
}

// Picks until the pick is alive (STALE-1..STALE-5).
std::expected<Dispatch::Placed, routing::NotPlaced> Dispatch::pick(const Walker& walker,
                                                                   const routing::Route& route,
                                                                   std::vector<WorkerId>& excluded,
                                                                   int& stale) {
  MonotonicTime now = replica_.clock.monotonic();
  const job::Record& record = walker.record;
  if (excluded.empty() && repeats(walker)) {
    return Placed{record.assignee, routing::direct_subject(record.assignee),
                  replica_.registry.find(record.assignee)->report.max_parallel_jobs};
  }
  std::vector<routing::HintOutcome> hints;
  while (true) {
    hints.clear();
    auto picked = routing::pick(replica_.registry, route, excluded, &hints);
    if (!picked) {
      count_hints(hints);
      const routing::WorkerReport* last = replica_.registry.last_resort(route, excluded);
      if (last && replica_.registry.alive(last->id, now)) {
        return Placed{last->id, routing::direct_subject(last->id), last->max_parallel_jobs};
      }
      if (stale > 0) {
        return std::unexpected(
            routing::NotPlaced{ReasonCode::kStaleWorker, "stale worker " + excluded.back().str()});
      }
      return std::unexpected(picked.error());
    }
    if (replica_.registry.alive(picked->worker, now)) {
      count_hints(hints);
      if (picked->by_hint) {
        replica_.log.info("strategy pick preferred worker",
                          {{"job_id", record.id.str()}, {"worker_id", picked->worker.str()}});
      }
      const routing::WorkerView* view = replica_.registry.find(picked->worker);
      return Placed{picked->worker, std::move(picked->subject), view->report.max_parallel_jobs};
    }
    ++stale;
    replica_.metrics.add(Counter::kStaleWorkerRetry, record.topic.str(), picked->worker.str());
    replica_.log.warning("stale worker detected, retrying dispatch",
                         {{"job_id", record.id.str()},
                          {"worker_id", picked->worker.str()},
                          {"attempt", std::to_string(stale)},
                          {"topic", record.topic.str()}});
    excluded.push_back(picked->worker);
    if (stale >= replica_.settings.stale_picks_max) {
      return std::unexpected(
          routing::NotPlaced{ReasonCode::kStaleWorker, "stale worker " + picked->worker.str()});
    }
  }
}

// --- Dispatch ------------------------------------------------------------------------------------

store::Change Dispatch::dispatch_change(const Walker& walker, const Placed& placed,
                                        const job::Limits& limits) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  if (!walker.is_new()) change.guard.revision = walker.record.revision;
  change.guard.lease = walker.token;
  if (planted(PlantedBug::kLeaseWithoutFencing)) change.guard.lease.clear();
  change.path = walker.path;
  if (walker.is_new()) change.request = walker.request_bytes;
  change.consumed = walker.consumed;
  change.tenant_limit = static_cast<uint32_t>(std::max(0, limits.max_concurrent_jobs));
  change.worker_limit = static_cast<uint32_t>(std::max(0, placed.capacity));
  if (auto ghosts = replica_.ghosts.find(placed.worker); ghosts != replica_.ghosts.end()) {
    change.ghosts = ghosts->second;
  }

  *change.next = walker.record;
  job::Record& next = *change.next;
  if (next.history.empty()) {
    next.history.reserve(kUsualHistory);
    job::add_event(next, next.created_at, "submitted");
  }
  if (next.state != State::kScheduled) {
    next.state = State::kScheduled;
    ++next.attempts;
    change.path.push_back(State::kScheduled);
    job::add_event(next, now, {});
  }
  next.state = State::kDispatched;
  change.path.push_back(State::kDispatched);
  next.updated_at = now;
  next.wait.reset();
  next.due = now + replica_.settings.timeouts_of(next.topic).dispatch;
  next.epoch = next.epoch.next();
  next.assignee = placed.worker;
  next.dispatched_at = now;
  next.publish_pending = true;
  next.worker_lost = false;
  ++next.deliveries;
  job::add_event(next, now, placed.worker.str());
  return change;
}

Task<Result<store::Receipt>> Dispatch::commit_dispatch(const Walker& walker, const Placed& placed,
                                                       const job::Limits& limits) {
  store::Change change = dispatch_change(walker, placed, limits);
  if (planted(PlantedBug::kPublishBeforeCommit)) {
    (void)replica_.bus.publish(placed.subject,
                               dispatch_packet(*change.next, walker.request_bytes,
                                               walker.deadline_ms, replica_.clock.wall()),
                               dispatch_id(change.next->id, change.next->epoch));
  }
  replica_.registry.hold(walker.record.id, placed.worker);
  return follow_dispatch(walker.record, commits_.commit(std::move(change)));
}

Task<Result<store::Receipt>> Dispatch::follow_dispatch(const job::Record& record,
                                                       Task<Result<store::Receipt>> committing) {
  Result<store::Receipt> receipt = co_await std::move(committing);
  if (!receipt || !std::holds_alternative<store::Applied>(*receipt)) {
    replica_.registry.release(record.id);
  }
  if (!receipt) {
    replica_.metrics.add(Counter::kDispatchRetry, record.topic.str(), "dispatched_write");
  }
  co_return receipt;
}

Task<void> Dispatch::hand_over(WalkerPtr walker, store::Snapshot record, std::string subject) {
  std::string token = std::move(walker->token);
  if (!leases_.may_publish(token)) {
    // Somebody else may be at it by now. The mark stays, so a sweep resolves it.
    leases_.release(record->id, token);
    co_return;
  }
  MonotonicTime began = walker->began;
  Result<bus::Published> published = bus::Published::kStored;
  if (!planted(PlantedBug::kPublishBeforeCommit)) {
    std::string packet =
        dispatch_packet(*record, walker->request_bytes, walker->deadline_ms, replica_.clock.wall());
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
  if (!published) co_return;  // told to stop; the mark stays
  switch (*published) {
    case bus::Published::kStored:
      replica_.metrics.add(Counter::kJobsDispatched, record->topic.str());
      replica_.metrics.observe(Histogram::kDispatchLatency, replica_.clock.monotonic() - began);
      co_return co_await commit_running(std::move(token), std::move(record));
    case bus::Published::kRefused:
      co_return co_await roll_back(std::move(token), std::move(record));
    case bus::Published::kUnknown:
      replica_.metrics.add(Counter::kDispatchRetry, record->topic.str(), "publish");
      leases_.release(record->id, token);
      co_return;
  }
}

store::Change Dispatch::running_change(const job::Record& record, const std::string& lease) {
  store::Change change;
  change.guard = {record.revision, lease};
  change.release_lease = !lease.empty();
  change.path = {State::kRunning};
  *change.next = record;
  job::Record& next = *change.next;
  next.state = State::kRunning;
  next.publish_pending = false;
  next.updated_at = replica_.clock.wall();
  next.due = next.updated_at + replica_.settings.timeouts_of(next.topic).running;
  job::add_event(next, next.updated_at, {});
  return change;
}

// Drops the mark. A result, a cancel or a timeout may have come first, and then it is theirs.
Task<void> Dispatch::commit_running(std::string token, store::Snapshot record) {
  std::string lease = token;
  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    auto committing = commits_.commit(running_change(*record, lease));
    Result<store::Receipt> receipt = co_await std::move(committing);
    if (!receipt) {
      if (receipt.error().code == ErrorCode::kCancelled) co_return;
      if (!co_await replica_.loop.delay(limits::kRetryStore)) co_return;
      continue;
    }
    if (std::holds_alternative<store::Applied>(*receipt)) {
      leases_.ended(token);
      co_return;
    }
    auto* conflict = std::get_if<store::Conflict>(&*receipt);
    if (!conflict || !conflict->now) break;
    const job::Record& now = *conflict->now;
    if (conflict->lease_lost) {
      lease.clear();  // it is published all the same: say so
    } else if (now.epoch != record->epoch || !now.publish_pending) {
      if (now.state == State::kCancelled || now.state == State::kTimeout) {
        // It reached the worker after its end: tell the worker (H-36).
        (void)co_await replica_.bus.publish(
            std::string(bus::kCancelSubject),
            cancel_packet(now.id, "the job ended before it started", replica_.clock.wall()), {});
      }
      break;
    }
    record = std::move(conflict->now);
  }
  leases_.release(record->id, token);
}

store::Change Dispatch::rollback_change(const job::Record& record, const std::string& lease) {
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
  ++next.attempts;
  --next.deliveries;
  next.publish_pending = false;
  next.due = now + job::backoff(next.attempts, replica_.jitter());
  next.wait = {ReasonCode::kPublishFailed, "the bus refused the dispatch", {}, now};
  job::add_event(next, now, "rollback: publish");
  return change;
}

Task<void> Dispatch::roll_back(std::string token, store::Snapshot record) {
  const std::string& topic = record->topic.str();
  replica_.metrics.add(Counter::kDispatchRetry, topic, "publish");
  replica_.registry.refused(record->assignee);
  Result<store::Receipt> receipt = co_await commits_.commit(rollback_change(*record, token));
  if (receipt && std::holds_alternative<store::Applied>(*receipt)) {
    replica_.metrics.add(Counter::kDispatchRollback, topic);
    leases_.ended(token);
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

// --- The ends of a walk --------------------------------------------------------------------------

Task<Walked> Dispatch::finish(Walker& walker, store::Change change, Outcome outcome) {
  bool ending = job::is_terminal(change.next->state);
  change.guard.lease = walker.token;
  change.release_lease = true;
  if (walker.is_new()) change.request = std::move(walker.request_bytes);
  change.consumed = walker.consumed;
  Result<store::Receipt> receipt = ending ? co_await commits_.commit_ending(std::move(change))
                                          : co_await commits_.commit(std::move(change));
  if (!receipt) {
    leases_.release(walker.record.id, walker.token);
    co_return failed(receipt.error());
  }
  if (std::holds_alternative<store::Applied>(*receipt)) {
    leases_.ended(walker.token);
    co_return Walked{outcome, {}};
  }
  leases_.release(walker.record.id, walker.token);
  if (std::holds_alternative<store::DuplicateKey>(*receipt)) {
    replica_.metrics.add(Counter::kIdempotencyDuplicates);
    co_return Walked{Outcome::kEnded, {}};
  }
  if (std::holds_alternative<store::Refused>(*receipt)) co_return Walked{Outcome::kEnded, {}};
  co_return Walked{Outcome::kLost, {}};
}

Task<Walked> Dispatch::end(Walker& walker, Ending ending) {
  if (walker.record.history.empty()) {
    job::add_event(walker.record, walker.record.created_at, "submitted");
  }
  store::Change change =
      ending_change(walker.record, walker.path, std::move(ending), replica_.clock.wall());
  co_return co_await finish(walker, std::move(change), Outcome::kEnded);
}

Task<Walked> Dispatch::give_up(Walker& walker, ReasonCode reason) {
  std::string message =
      fmt::format("max scheduling retries exceeded (attempts={})", walker.record.attempts);
  co_return co_await end(walker, {State::kFailed, reason, {}, std::move(message)});
}

Task<Walked> Dispatch::wait(Walker& walker, ReasonCode reason, std::string detail,
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
      if (replica_.is_young()) next_try = std::min(next_try, limits::kBackoffBase);
      (void)co_await replica_.store.unclaim(record.id, next_try + replica_.jitter());
    }
    co_return Walked{Outcome::kWaits, {}};
  }

  store::Change change;
  if (record.revision != Revision()) change.guard.revision = record.revision;
  change.path = walker.path;
  *change.next = record;
  job::Record& next = *change.next;
  if (next.history.empty()) job::add_event(next, next.created_at, "submitted");
  next.updated_at = now;
  job::Wait waits{reason, detail.substr(0, limits::kReasonBytesMax), wait_class, now, now};
  if (same_class) {
    // Its place and its schedule stay: another reason is no attempt.
    waits.since = walker.wait_base;
    waits.queued_at = job::place_in_line(*record.wait);
    next.attempts = walker.attempts_at_base;
    next.due = now + walker.next_attempt + replica_.jitter();
  } else {
    next.due = now + job::backoff(next.attempts, replica_.jitter());
    ++next.attempts;
  }
  next.wait = std::move(waits);
  next.publish_pending = false;
  job::add_event(next, now, job::to_string(reason));
  Walked walked = co_await finish(walker, std::move(change), Outcome::kWaits);
  if (walked.outcome == Outcome::kWaits) {
    commits_.board().add(wait_class, now);
    // Room may have come while the commit was on its way.
    co_await wake(std::move(wait_class));
  }
  co_return walked;
}

Task<Walked> Dispatch::pause(Walker& walker, ReasonCode reason, std::string detail,
                             Duration delay) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  if (walker.record.revision != Revision()) change.guard.revision = walker.record.revision;
  change.path = walker.path;
  *change.next = walker.record;
  job::Record& next = *change.next;
  if (next.history.empty()) job::add_event(next, next.created_at, "submitted");
  next.updated_at = now;
  next.due = now + delay;
  if (!next.wait || next.wait->reason != reason) {
    next.wait = {reason, detail.substr(0, limits::kReasonBytesMax), {}, now};
    job::add_event(next, now, job::to_string(reason));
  }
  next.wait->wait_class.clear();
  co_return co_await finish(walker, std::move(change), Outcome::kWaits);
}

Task<Walked> Dispatch::park_for_approval(Walker& walker) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  if (walker.record.revision != Revision()) change.guard.revision = walker.record.revision;
  change.path = walker.path;
  change.path.push_back(State::kApprovalRequired);
  *change.next = walker.record;
  job::Record& next = *change.next;
  if (next.history.empty()) job::add_event(next, next.created_at, "submitted");
  next.state = State::kApprovalRequired;
  next.updated_at = now;
  next.due.reset();
  next.wait.reset();
  job::add_event(next, now, next.decision.reason);
  co_return co_await finish(walker, std::move(change), Outcome::kWaits);
}

// --- Waking up -----------------------------------------------------------------------------------

Task<void> Dispatch::try_claimed(store::Claim claim) {
  auto taken = co_await leases_.take(claim.job, true, Duration(0));
  if (!taken) {
    (void)replica_.store.unclaim(claim.job, limits::kRetryBusy);
    co_return;
  }
  const store::Snapshot& record = taken->loaded.record;
  if (!record || !record->wait || record->wait->wait_class != claim.wait_class) {
    leases_.release(claim.job, taken->token);
    co_return;
  }
  WalkerPtr walker = walker_of(*std::move(taken));
  walker->claim = claim;
  if (!walker->packet->has_job_request()) {
    co_await end(*walker, unreadable_request());
    co_return;
  }
  Walked walked = co_await advance(std::move(walker));
  if (walked.outcome == Outcome::kFailed) {
    (void)replica_.store.unclaim(claim.job, limits::kRetryStore);
  }
  bool dispatched = walked.outcome == Outcome::kDispatched;
  if (!dispatched && walked.outcome != Outcome::kEnded) co_return;
  // Those claimed with it come first.
  if (!co_await replica_.loop.delay(Duration(0))) co_return;
  if (dispatched) {
    co_await wake(std::move(claim.wait_class));  // where one found room, the next may too
  } else {
    co_await try_next(std::move(claim.wait_class));  // when one is given up, the next may be too
  }
}

Task<void> Dispatch::wake(std::string wait_class) {
  if (planted(PlantedBug::kWakeUpLost)) co_return;
  if (replica_.store.waiting_in(wait_class) == 0) co_return;
  if (auto parsed = routing::parse_wait_class(wait_class)) {
    routing::Route route;
    route.pools = parsed->pools;
    route.placement = parsed->placement;
    auto picked = routing::pick(replica_.registry, route);
    if (!picked || !replica_.registry.alive(picked->worker, replica_.clock.monotonic())) co_return;
  }
  co_await try_next(std::move(wait_class));
}

Task<void> Dispatch::try_next(std::string wait_class) {
  auto claims = co_await replica_.store.claim({{std::move(wait_class)}, 1});
  if (!claims) co_return;
  for (store::Claim& claim : *claims) replica_.nursery.spawn(try_claimed(std::move(claim)));
}

Task<void> Dispatch::offer(WorkerId worker) {
  const routing::WorkerView* view = replica_.registry.find(worker);
  if (!view || view->free_slots <= 0) co_return;
  std::vector<std::string> classes = commits_.board().fitting(view->report);
  if (classes.empty()) co_return;
  size_t slots = static_cast<size_t>(view->free_slots);
  auto claims =
      co_await replica_.store.claim({std::move(classes), std::min(slots, limits::kSweepBatch)});
  if (!claims) co_return;
  for (store::Claim& claim : *claims) replica_.nursery.spawn(try_claimed(std::move(claim)));
}

// --- Resuming ------------------------------------------------------------------------------------

Task<void> Dispatch::revisit(JobId job) {
  auto taken = co_await leases_.take(job, true, Duration(0));
  if (!taken) co_return;  // somebody is at it
  const store::Snapshot& record = taken->loaded.record;
  WallTime now = replica_.clock.wall();
  if (!record || job::is_terminal(record->state)) {
    leases_.release(job, taken->token);
    co_return;
  }
  WalkerPtr walker = walker_of(*std::move(taken));
  if (!walker->packet->has_job_request()) {
    co_await end(*walker, unreadable_request());
    co_return;
  }
  bool due = walker->record.due && *walker->record.due <= now;
  switch (walker->record.state) {
    case State::kDispatched:
      if (walker->record.publish_pending && !planted(PlantedBug::kGateAcknowledgesDispatchedAway)) {
        co_await resolve_unpublished(std::move(walker));
        co_return;
      }
      break;
    case State::kPending:
    case State::kScheduled:
    case State::kRetrying:
      if (due && !waits_in_class(walker->record)) {
        replica_.metrics.add(Counter::kOrphanReplayed, walker->record.topic.str());
        co_await advance(std::move(walker));
        co_return;
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
}

Task<Walked> Dispatch::resolve_unpublished(WalkerPtr walker) {
  const job::Record& record = walker->record;
  Result<std::optional<bool>> found = co_await replica_.bus.stored(
      routing::direct_subject(record.assignee), dispatch_id(record.id, record.epoch));
  if (!found) {
    leases_.release(record.id, walker->token);
    co_return failed(found.error());
  }
  if (*found && **found) {
    replica_.registry.hold(record.id, record.assignee);
    co_await commit_running(std::move(walker->token),
                            std::make_shared<const job::Record>(std::move(walker->record)));
    co_return Walked{Outcome::kDispatched, {}};
  }
  if (replica_.is_young() &&
      !replica_.registry.alive(record.assignee, replica_.clock.monotonic())) {
    // Its worker may live and have it. The mark stays, so a sweep looks again.
    leases_.release(record.id, walker->token);
    co_return Walked{Outcome::kWaits, {}};
  }
  co_return co_await advance(std::move(walker));
}

void Dispatch::count_hints(const std::vector<routing::HintOutcome>& hints) {
  for (const routing::HintOutcome& hint : hints) {
    if (hint.accepted) {
      replica_.metrics.add(Counter::kHintUsed, hint.hint);
    } else {
      replica_.metrics.add(Counter::kHintRejected, hint.hint, hint.cause);
    }
  }
}

}  // namespace fairlead::scheduler
