#include "scheduler/dispatch.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/planted.h"
#include "job/backoff.h"
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

// Nobody tried before this replica started, nor while the machine slept: that time made no
// attempts. Who was not claimed does not know whether its class moved.
WallTime wait_base(const Walker& walker, WallTime steady_since, WallTime now) {
  const job::Wait& wait = *walker.record.wait;
  if (!job::makes_attempts(wait)) return now;
  WallTime base =
      planted(PlantedBug::kDowntimeCounts) ? wait.since : std::max(wait.since, steady_since);
  if (!restarts_with_class(wait.reason)) return base;
  return walker.claim ? std::max(base, walker.claim->class_dispatched_at) : now;
}

// The route that a request asks for.
routing::RememberedRoutes::Answer route_of(Replica& replica, const job::Record& record,
                                           const cap::JobRequest& request) {
  routing::Labels labels;
  for (const auto& [name, value] : request.labels()) labels.emplace(name, value);
  const auto& needs = request.meta().requires_();
  return replica.routes.resolve(
      replica.pools,
      {record.topic, {needs.begin(), needs.end()}, &labels, replica.registry.topics_matter()});
}

// Of a job that finds its worker at once: submitted, scheduled, dispatched, running, ended.
constexpr size_t kUsualHistory = 5;

}  // namespace

Epoch next_epoch(Epoch last, WallTime rewound_at) {
  if (planted(PlantedBug::kLostEpochGivenAgain)) return last.next();
  return std::max(last.next(), Epoch(static_cast<uint64_t>(to_micros(rewound_at))));
}

Task<Walked> Dispatch::advance(WalkerPtr owned) {
  Walker& walker = *owned;
  // Nothing can be tried, so nothing is counted.
  const bool is_stored = !walker.is_new() && !walker.brings_request;
  if (!replica_.has_bus() && is_stored) co_return ends_.stay(walker, limits::kRetryBus);
  begin(walker, replica_.clock.wall());
  job::Record& record = walker.record;
  // Who waits for a worker is looked for one first: wait() gives it up.
  bool waits = record.state == State::kPending || waits_in_class(record);
  if (!waits && record.attempts >= limits::kSchedulingAttemptsMax) {
    bool unpublished = record.wait && record.wait->reason == ReasonCode::kPublishFailed;
    co_return co_await ends_.give_up(
        walker, unpublished ? ReasonCode::kDispatchFailed : ReasonCode::kMaxSchedulingRetries);
  }

  if (replica_.config) co_await configure(walker);
  if (std::optional<Walked> stopped = co_await judge_.ask(walker)) co_return *std::move(stopped);

  auto route = route_of(replica_, record, walker.request());
  if (!route) {
    routing::Refusal& refusal = route.error();
    if (refusal.hint) choice_.count_hints({*refusal.hint});
    replica_.log.warning(
        refusal.code == ReasonCode::kNoPoolMapping ? "no pool mapping for topic" : "no route",
        {{"job_id", record.id.str()}, {"topic", record.topic.str()}, {"error", refusal.detail}});
    co_return co_await ends_.end(walker, {State::kFailed, refusal.code, {}, refusal.detail});
  }
  walker.packet.reset();
  co_return co_await place(std::move(owned), *std::move(route));
}

Task<void> Dispatch::configure(Walker& walker) {
  Result<std::string> config = co_await replica_.config->resolve(config_scope_of(walker.request()));
  if (config && config->size() > limits::kEffectiveConfigBytesMax) {
    config =
        fail(ErrorCode::kInvalid, fmt::format("it has {} bytes, at most {} are told",
                                              config->size(), limits::kEffectiveConfigBytesMax));
  }
  if (!config) {
    replica_.log.warning("effective configuration left out",
                         {{"job_id", walker.record.id.str()}, {"error", config.error().message}});
    co_return;
  }
  if (config->empty()) co_return;
  walker.effective_config = *std::move(config);
  cap::JobRequest& request = *walker.packet->mutable_job_request();
  (*request.mutable_env())[kEffectiveConfigVariable] = walker.effective_config;
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
    walker.wait_base = wait_base(walker, replica_.steady_since(), now);
    walker.attempts_at_base = record.attempts;
    Duration waited = std::max(Duration(0), now - walker.wait_base);
    uint32_t attempts = job::attempts_after(record.attempts, waited);
    walker.next_attempt = job::next_attempt_at(record.attempts, attempts) - waited;
    record.attempts = attempts;
  }
  if (record.state == State::kDispatched) {
    job::open_epoch(record);
    record.publish_pending = false;
    record.state = State::kScheduled;
    walker.path = {State::kScheduled};
    walker.same_worker = true;
    walker.held_slots = true;
    ++record.attempts;
    --record.deliveries;  // who has it can tell the next epoch from a new job
  } else if (record.state == State::kScheduled) {
    const auto& open = record.open_epochs;
    walker.same_worker = !open.empty() && open.back().epoch == record.epoch;
    ++record.attempts;
  }
}

Task<Walked> Dispatch::place(WalkerPtr owned, std::shared_ptr<const routing::Route> route) {
  if (!replica_.has_bus()) {
    co_return co_await ends_.pause(*owned, ReasonCode::kPublishFailed, "the bus is away",
                                   limits::kRetryBus);
  }
  if (std::optional<Behind> line = line_to_join(*owned, *route)) {
    co_return co_await ends_.wait(*owned, line->reason, std::move(line->detail),
                                  std::move(line->wait_class));
  }
  co_return co_await try_workers(std::move(owned), std::move(route));
}

// A new job queues behind those who wait for the same. One that its worker may have already holds
// its slots, and must not leave them to others. One whose turn it is among those of its tenant does
// not join the next line before it has tried: with the tenant still full, it would be sent to and
// fro.
std::optional<Dispatch::Behind> Dispatch::line_to_join(const Walker& walker,
                                                       const routing::Route& route) {
  const job::Record& record = walker.record;
  // It is its turn in the class, or it would wait there alone.
  auto comes_from = [&](const std::string& wait_class) {
    if (walker.claim && walker.claim->wait_class == wait_class) return true;
    bool waits_there = record.wait && record.wait->wait_class == wait_class;
    return replica_.store.waiting_in(wait_class) <= (waits_there ? 1 : 0);
  };
  if (repeats(replica_, walker) && !planted(PlantedBug::kRepeatQueuesBehind)) return std::nullopt;

  std::string own_tenant = tenant_class(record.tenant);
  if (walker.claim && walker.claim->wait_class == own_tenant) return std::nullopt;
  bool limited = job::limits_of(record.decision.constraints).max_concurrent_jobs > 0;
  if (limited && !comes_from(own_tenant)) {
    return Behind{ReasonCode::kTenantLimit, "behind other jobs of the tenant",
                  std::move(own_tenant)};
  }
  if (comes_from(route.wait_class)) return std::nullopt;
  if (auto obstacle = choice_.obstacle(walker, route)) {
    return Behind{obstacle->code, std::move(obstacle->detail), route.wait_class};
  }
  return Behind{ReasonCode::kPoolOverloaded, "behind other jobs that wait for the same workers",
                route.wait_class};
}

// Commits the dispatch to the best worker; to the next, where the store calls that one full.
Task<Walked> Dispatch::try_workers(WalkerPtr owned, std::shared_ptr<const routing::Route> given) {
  const routing::Route& route = *given;
  Walker& walker = *owned;
  job::Record& record = walker.record;
  job::Limits limits = job::limits_of(record.decision.constraints);
  std::vector<WorkerId> excluded;
  int stale = 0;
  for (int full = 0; full < limits::kFullWorkerPicksMax; ++full) {
    auto placed = choice_.pick(walker, route, excluded, stale);
    if (!placed) {
      // Those that the store calls full are there, only busy.
      bool busy = full > 0 && placed.error().code == ReasonCode::kNoWorkers;
      co_return co_await ends_.wait(walker,
                                    busy ? ReasonCode::kPoolOverloaded : placed.error().code,
                                    placed.error().detail, route.wait_class);
    }
    Result<store::Receipt> receipt = co_await commit_dispatch(walker, *placed, limits);
    auto* applied = receipt ? std::get_if<store::Applied>(&*receipt) : nullptr;
    if (applied) {
      choice_.count_hints(placed->hints);
      if (walker.admitted) *walker.admitted = applied->record;
      JobId job = record.id;
      jobs_.spawn(std::move(job), hand_over_.publish(std::move(owned), std::move(applied->record),
                                                     std::move(placed->subject), std::move(given)));
      co_return Walked{Outcome::kDispatched, {}};
    }
    auto* no_room = receipt ? std::get_if<store::Full>(&*receipt) : nullptr;
    if (!no_room) co_return ends_.not_applied(walker, receipt);
    if (no_room->slot == store::Full::Slot::kTenant) {
      Walked walked = co_await ends_.wait(walker, ReasonCode::kTenantLimit,
                                          fmt::format("{} of {} jobs of the tenant are out",
                                                      no_room->held, limits.max_concurrent_jobs),
                                          tenant_class(record.tenant));
      // While it tried, its worker seemed taken to those who wait for a worker.
      if (walker.claim && is_tenant_class(walker.claim->wait_class))
        commits_.wake(route.wait_class);
      co_return walked;
    }
    if (!replica_.settings.alone) co_await learn_held(placed->worker);
    if (ends_.may_be_out(walker)) co_return ends_.stay(walker, limits::kRetryOut);
    excluded.push_back(placed->worker);
  }
  co_return co_await ends_.wait(walker, ReasonCode::kPoolOverloaded,
                                "pool_overloaded: " + route.wait_class, route.wait_class);
}

Task<void> Dispatch::learn_held(WorkerId worker) {
  Result<store::Page> page = co_await replica_.store.scan(
      {.by = store::Query::By::kWorker, .text = worker.str(), .limit = limits::kScanMax});
  if (!page) co_return;
  for (const job::Record& record : page->records) replica_.registry.hold(record.id, worker);
}

store::Change Dispatch::dispatch_change(const Walker& walker, const Placed& placed,
                                        const job::Limits& limits) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  if (!walker.is_new()) change.guard.revision = walker.record.revision;
  change.guard.lease = walker.token;
  if (planted(PlantedBug::kLeaseWithoutFencing)) change.guard.lease.clear();
  change.path = walker.path;
  if (walker.stores_request()) change.request = walker.request_bytes;
  change.consumed = walker.consumed;
  change.mark = walker.mark;
  change.was_in_flight = walker.was_in_flight;
  // A repeat has its tenant's slot already, also where there should be fewer by now. That of its
  // worker may have been another's that was lost there, and is not any more.
  if (!ends_.may_be_out(walker)) {
    change.tenant_limit = static_cast<uint32_t>(std::max(0, limits.max_concurrent_jobs));
  }
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
  next.epoch = next_epoch(next.epoch, replica_.store.rewound_at());
  next.assignee = placed.worker;
  next.dispatched_at = now;
  next.first_sign_at.reset();
  if (replica_.results_seen.is_after(next.results_seen)) next.results_seen = replica_.results_seen;
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
    (void)replica_.bus.publish(
        placed.subject,
        dispatch_packet(*change.next, walker.request_bytes, replica_.clock.wall()).bytes,
        dispatch_id(change.next->id, change.next->epoch));
  }
  replica_.registry.hold(walker.record.id, placed.worker);
  return follow_dispatch(walker, commits_.commit(std::move(change)));
}

Task<Result<store::Receipt>> Dispatch::follow_dispatch(const Walker& walker,
                                                       Task<Result<store::Receipt>> committing) {
  const job::Record& record = walker.record;
  Result<store::Receipt> receipt = co_await std::move(committing);
  if (!receipt || !std::holds_alternative<store::Applied>(*receipt)) {
    // What was out before is so still.
    if (walker.held_slots) {
      replica_.registry.hold(record.id, record.assignee);
    } else {
      replica_.registry.release(record.id);
    }
  }
  if (!receipt) {
    replica_.metrics.add(Counter::kDispatchRetry, replica_.label_of(record.topic),
                         "dispatched_write");
  }
  co_return receipt;
}

}  // namespace fairlead::scheduler
