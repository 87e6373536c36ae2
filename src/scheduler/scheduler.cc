#include "scheduler/scheduler.h"

#include "job/request.h"
#include "scheduler/packets.h"
#include "scheduler/poison.h"

namespace fairlead::scheduler {

Scheduler::Scheduler(const Plugs& plugs, Settings settings,
                     std::shared_ptr<const routing::PoolMap> pools)
    : replica_(plugs, std::move(settings), std::move(pools)),
      leases_(replica_),
      commits_(replica_,
               [this](store::Claim claim) {
                 replica_.nursery.spawn(dispatch_.try_claimed(std::move(claim)));
               }),
      dispatch_(replica_, leases_, commits_),
      submit_(replica_, leases_, commits_, dispatch_),
      results_(replica_, commits_),
      cancel_(replica_, commits_),
      sweep_(replica_, commits_, dispatch_),
      heartbeats_(replica_, dispatch_, sweep_),
      snapshots_(replica_) {}

Task<Result<void>> Scheduler::start() {
  if (Result<void> shown = co_await leases_.appear(); !shown) co_return shown;
  if (Result<void> learned = co_await learn(); !learned) co_return learned;
  std::vector<WorkerId> known;
  if (!replica_.settings.alone) known = co_await snapshots_.warm_start();
  for (const WorkerId& worker : known) sweep_.heard(worker);
  if (Result<void> subscribed = subscribe(); !subscribed) co_return subscribed;
  loops_.spawn(leases_.keep_alive());
  loops_.spawn(leases_.keep_renewing());
  sweeps_.spawn(sweep_.keep_sweeping());
  sweeps_.spawn(sweep_.keep_retiring());
  if (!replica_.settings.alone) {
    loops_.spawn(heartbeats_.keep_confirming());
    loops_.spawn(snapshots_.keep_writing());
  }
  // A heartbeat of theirs will not say that they came (H-93).
  for (const WorkerId& worker : known) replica_.nursery.spawn(dispatch_.offer(worker));
  co_return Result<void>{};
}

// What is out with workers counts against them; who waits is offered what comes.
Task<Result<void>> Scheduler::learn() {
  for (job::State state : {job::State::kDispatched, job::State::kRunning}) {
    store::Query query{
        store::Query::By::kState, job::to_string(state), WallTime::max(), limits::kScanMax, {}};
    do {
      Result<store::Page> page = co_await replica_.store.scan(query);
      if (!page) co_return std::unexpected(page.error());
      for (const job::Record& record : page->records) {
        replica_.registry.hold(record.id, record.assignee);
        sweep_.expect(record.assignee);
      }
      query.cursor = page->next;
    } while (!query.cursor.empty());
  }
  std::string after;
  do {
    auto classes = co_await replica_.store.waiting(after, limits::kScanMax);
    if (!classes) co_return std::unexpected(classes.error());
    bool last = classes->size() < limits::kScanMax;
    commits_.board().refresh(after, *classes, last);
    after = last ? "" : classes->back().wait_class;
  } while (!after.empty());
  co_return Result<void>{};
}

Result<void> Scheduler::subscribe() {
  bus::SubscribeOptions work;
  work.queue = bus::kSchedulerQueue;
  work.key = [](std::string_view payload) { return job::peek_job_id(payload); };
  struct Entry {
    std::string_view subject;
    bus::SubscribeOptions options;
    bus::Handler handler;
  };
  std::vector<Entry> entries = {
      // First, so that jobs do not meet an empty registry.
      {bus::kHeartbeatSubject,
       {},
       [this](bus::Delivery delivery) { return heartbeats_.handle(std::move(delivery)); }},
      {bus::kResultSubject, work,
       [this](bus::Delivery delivery) { return results_.handle(std::move(delivery)); }},
      {bus::kCancelSubject, work,
       [this](bus::Delivery delivery) { return cancel_.handle(std::move(delivery)); }},
      {bus::kSubmitSubject, work,
       [this](bus::Delivery delivery) { return submit_.handle(std::move(delivery)); }},
  };
  auto overhear = [this](bus::Delivery delivery) {
    return heartbeats_.overhear(std::move(delivery));
  };
  if (!replica_.settings.alone) {
    entries.push_back({bus::kResultSubject, {}, overhear});
    entries.push_back({bus::kCancelSubject, {}, overhear});
  }
  for (Entry& entry : entries) {
    auto subscription = replica_.bus.subscribe(std::string(entry.subject), std::move(entry.options),
                                               std::move(entry.handler));
    if (!subscription) return std::unexpected(subscription.error());
    subscriptions_.push_back(*std::move(subscription));
  }
  return {};
}

void Scheduler::set_pools(std::shared_ptr<const routing::PoolMap> pools) {
  replica_.pools = std::move(pools);
}

Task<Result<bool>> Scheduler::cancel(JobId job, std::string reason) {
  Result<bool> cancelled = co_await cancel_.cancel(job, reason, std::nullopt);
  if (cancelled && *cancelled) {
    (void)co_await replica_.bus.publish(std::string(bus::kCancelSubject),
                                        cancel_packet(job, reason, replica_.clock.wall()), {});
  }
  co_return cancelled;
}

Task<Result<void>> Scheduler::bury(bus::Delivery delivery, std::string reason) {
  co_return co_await scheduler::bury(replica_, delivery, std::move(reason));
}

size_t Scheduler::in_hand() const {
  return replica_.nursery.running();
}

Task<void> Scheduler::stop(Duration patience) {
  subscriptions_.clear();
  sweeps_.cancel();  // nothing new begins; what is under way keeps its leases
  MonotonicTime until = replica_.clock.monotonic() + patience;
  while (replica_.nursery.running() > 0 && replica_.clock.monotonic() < until) {
    if (!co_await replica_.loop.delay(limits::kLeasePollEvery)) break;
  }
  loops_.cancel();
  replica_.nursery.cancel();
}

}  // namespace fairlead::scheduler
