#include "scheduler/waiters.h"

#include <algorithm>

#include "base/planted.h"
#include "routing/placement.h"
#include "routing/wait_class.h"

namespace fairlead::scheduler {

using job::State;

Task<void> Waiters::try_claimed(store::Claim claim, PoolName opened) {
  const JobId job = claim.job;
  std::string wait_class = claim.wait_class;
  const bool asks_policy = wait_class == kPolicyClass;
  asking_policy_ += asks_policy;
  auto following = follow_claim(std::move(claim), std::move(opened));
  const bool done = co_await jobs_.guard(job, std::move(following), false);
  asking_policy_ -= asks_policy;
  if (done) co_return;
  // It stays claimed for a while, and those behind it have their turn; not all of them, should they
  // fare the same.
  if (replica_.left_alone.size() < limits::kSweepBatch) co_await wake(std::move(wait_class));
  if (!co_await replica_.loop.delay(limits::kRetryPanic)) co_return;
  (void)replica_.store.unclaim(job, Duration(0));
}

Task<bool> Waiters::follow_claim(store::Claim claim, PoolName opened) {
  if (!replica_.has_bus()) {
    (void)replica_.store.unclaim(claim.job, limits::kRetryBus);
    co_return true;
  }
  auto taken = co_await leases_.take(claim.job, true, Duration(0));
  if (!taken) {
    (void)replica_.store.unclaim(claim.job, limits::kRetryBusy);
    co_return true;
  }
  const store::Snapshot& record = taken->loaded.record;
  if (!record || !record->wait || record->wait->wait_class != claim.wait_class) {
    leases_.release(claim.job, taken->token);
    co_return true;
  }
  WalkerPtr walker = walker_of(*std::move(taken));
  walker->claim = claim;
  if (!walker->packet->has_job_request()) {
    co_await ends_.end(*walker, unreadable_request());
    co_return true;
  }
  Walked walked = co_await dispatch_.advance(std::move(walker));
  if (walked.outcome == Outcome::kFailed) {
    (void)replica_.store.unclaim(claim.job, limits::kRetryStore);
  }
  bool dispatched = walked.outcome == Outcome::kDispatched;
  if (dispatched && !opened.empty()) {
    replica_.metrics.add(Counter::kDispatchFlush, opened.str());
  }
  bool ended = walked.outcome == Outcome::kEnded;
  // Who waits for a worker now stands for the others of its tenant.
  bool left = walked.left_class && !is_tenant_class(claim.wait_class);
  if (!dispatched && !ended && !left) co_return true;
  // Those claimed with it come first.
  if (!co_await replica_.loop.delay(Duration(0))) co_return true;
  if (claim.wait_class == kPolicyClass) {
    // Policy can be asked again: soon there are many on their way.
    const bool more = asking_policy_ <= limits::kAskPolicyMax;  // this one counts
    co_await try_next(std::move(claim.wait_class), more ? 2 : 1);
  } else if (ended) {
    co_await try_next(std::move(claim.wait_class));  // when one is given up, the next may be too
  } else {
    // Where one found room or left it, the next may too.
    co_await wake(std::move(claim.wait_class));
  }
  co_return true;
}

Task<void> Waiters::wake(std::string wait_class) {
  if (planted(PlantedBug::kWakeUpLost)) co_return;
  if (replica_.store.waiting_in(wait_class) == 0) co_return;
  if (auto parsed = routing::parse_wait_class(wait_class)) {
    routing::Route route;
    route.pools = parsed->pools;
    route.placement = parsed->placement;
    route.topic = parsed->topic;
    const routing::WorkerReport* best = replica_.registry.candidates(route, {}).best;
    if (!best || !replica_.registry.alive(best->id, replica_.clock.monotonic())) co_return;
  }
  co_await try_next(std::move(wait_class));
}

Task<void> Waiters::try_next(std::string wait_class, size_t count) {
  auto claims = co_await replica_.store.claim({{std::move(wait_class)}, count});
  if (!claims) co_return;
  for (store::Claim& claim : *claims) replica_.nursery.spawn(try_claimed(std::move(claim)));
}

Task<void> Waiters::offer(WorkerId worker) {
  const routing::WorkerView* view = replica_.registry.find(worker);
  if (!view || view->free_slots <= 0) co_return;
  std::vector<std::string> classes = commits_.board().fitting(view->report);
  if (classes.empty()) co_return;
  size_t slots = static_cast<size_t>(view->free_slots);
  PoolName pool = view->report.pool;
  auto claims =
      co_await replica_.store.claim({std::move(classes), std::min(slots, limits::kSweepBatch)});
  if (!claims) co_return;
  for (store::Claim& claim : *claims) replica_.nursery.spawn(try_claimed(std::move(claim), pool));
}

Task<void> Waiters::reroute(std::vector<Topic> topics) {
  WallTime changed = replica_.clock.wall();
  for (State state : {State::kPending, State::kScheduled, State::kRetrying}) {
    if (!co_await reroute(state, topics, changed)) co_return;
  }
}

// Those that changed since were tried by the new routes. False when told to stop.
Task<bool> Waiters::reroute(State state, const std::vector<Topic>& topics, WallTime changed) {
  store::Query query{
      .by = store::Query::By::kState, .text = job::to_string(state), .limit = limits::kSweepBatch};
  while (true) {
    Result<store::Page> page = co_await replica_.store.scan(query);
    if (!page) {
      if (!co_await replica_.loop.delay(limits::kRetryStore)) co_return false;
      continue;
    }
    for (const job::Record& record : page->records) {
      if (record.updated_at > changed) co_return true;
      if (!waits_in_class(record) || !std::ranges::binary_search(topics, record.topic)) continue;
      while (rerouting_ >= limits::kSweepBatch) {
        if (!co_await replica_.loop.delay(limits::kRerouteEvery)) co_return false;
      }
      replica_.nursery.spawn(try_elsewhere(record.id));
    }
    query.cursor = std::move(page->next);
    if (query.cursor.empty()) co_return true;
  }
}

Task<void> Waiters::try_elsewhere(JobId job) {
  ++rerouting_;
  while (!co_await jobs_.guard(job, reroute(job), true)) {
    if (!co_await replica_.loop.delay(limits::kRetryStore)) break;
  }
  --rerouting_;
}

// False when the store or the bus could not do it, or somebody is at the job.
Task<bool> Waiters::reroute(JobId job) {
  if (!replica_.has_bus()) co_return false;
  auto taken = co_await leases_.take(job, true, limits::kLeaseWaitMax);
  if (!taken) co_return false;
  const store::Snapshot& record = taken->loaded.record;
  if (!record || !waits_in_class(*record)) {
    leases_.release(job, taken->token);
    co_return true;
  }
  WalkerPtr walker = walker_of(*std::move(taken));
  if (!walker->packet->has_job_request()) {
    (void)co_await ends_.end(*walker, unreadable_request());
    co_return true;
  }
  Walked walked = co_await dispatch_.advance(std::move(walker));
  co_return walked.outcome != Outcome::kFailed;
}

}  // namespace fairlead::scheduler
