#include "scheduler/scheduler.h"

#include "job/request.h"
#include "scheduler/packets.h"
#include "scheduler/poison.h"

namespace fairlead::scheduler {

Scheduler::Scheduler(const Plugs& plugs, Settings settings,
                     std::shared_ptr<const routing::PoolMap> pools)
    : replica_(plugs, std::move(settings), std::move(pools)),
      leases_(replica_),
      jobs_(replica_, leases_),
      commits_(replica_, {.on_claimed =
                              [this](store::Claim claim) {
                                replica_.nursery.spawn(waiters_.try_claimed(std::move(claim)));
                              },
                          .on_room =
                              [this](std::string wait_class) {
                                replica_.nursery.spawn(waiters_.wake(std::move(wait_class)));
                              }}),
      ends_(replica_, leases_, commits_),
      hand_over_(replica_, leases_, commits_,
                 [this](const job::Record& job) {
                   jobs_.spawn(job.id, look_again(job.id, job.revision));
                 }),
      dispatch_(replica_, leases_, jobs_, commits_, ends_, hand_over_),
      waiters_(replica_, leases_, jobs_, commits_, ends_, dispatch_),
      revisits_(replica_, leases_, ends_, hand_over_, dispatch_),
      submit_(replica_, leases_, jobs_, commits_, ends_, dispatch_, revisits_),
      results_(replica_, commits_),
      cancel_(replica_, commits_),
      progress_(replica_, commits_),
      sweep_(replica_, jobs_, commits_, waiters_, revisits_),
      heartbeats_(replica_, waiters_),
      snapshots_(replica_) {}

Task<void> Scheduler::look_again(JobId job, Revision found) {
  (void)co_await revisits_.revisit(std::move(job), found);
}

Task<Result<void>> Scheduler::start() {
  if (Result<void> shown = co_await leases_.appear(); !shown) co_return shown;
  if (Result<void> learned = co_await learn(); !learned) co_return learned;
  std::vector<WorkerId> known;
  if (!replica_.settings.alone) known = co_await snapshots_.warm_start();
  for (const WorkerId& worker : known) replica_.presence.heard(worker);
  if (Result<void> subscribed = subscribe(); !subscribed) co_return subscribed;
  loops_.spawn(replica_.presence.keep_noting(replica_.loop,
                                             [this] { return replica_.bus.listening_since(); }));
  loops_.spawn(leases_.keep_alive());
  loops_.spawn(leases_.keep_renewing());
  sweeps_.spawn(sweep_.keep_sweeping());
  sweeps_.spawn(sweep_.keep_retiring());
  if (!replica_.settings.alone) {
    loops_.spawn(heartbeats_.keep_confirming());
    loops_.spawn(snapshots_.keep_writing());
  }
  started_ = true;
  // A heartbeat of theirs will not say that they came (H-93).
  for (const WorkerId& worker : known) replica_.nursery.spawn(waiters_.offer(worker));
  co_return Result<void>{};
}

// What is out with workers counts against them; who waits is offered what comes.
Task<Result<void>> Scheduler::learn() {
  for (job::State state : {job::State::kDispatched, job::State::kRunning}) {
    store::Query query{
        .by = store::Query::By::kState, .text = job::to_string(state), .limit = limits::kScanMax};
    do {
      Result<store::Page> page = co_await replica_.store.scan(query);
      if (!page) co_return std::unexpected(page.error());
      for (const job::Record& record : page->records) {
        replica_.registry.hold(record.id, record.assignee);
        replica_.presence.expect(record.assignee);
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
      {bus::kHandshakeSubject,
       {},
       [this](bus::Delivery delivery) { return heartbeats_.introduce(std::move(delivery)); }},
      {bus::kWorkerGoneSubject,
       {},
       [this](bus::Delivery delivery) { return heartbeats_.leave(std::move(delivery)); }},
      {bus::kResultSubject, work,
       [this](bus::Delivery delivery) {
         return handle_once(std::move(delivery), [this](bus::Delivery result) {
           return results_.handle(std::move(result));
         });
       }},
      {bus::kCancelSubject, work,
       [this](bus::Delivery delivery) { return cancel_.handle(std::move(delivery)); }},
      {bus::kSubmitSubject, work,
       [this](bus::Delivery delivery) {
         return handle_once(std::move(delivery), [this](bus::Delivery submit) {
           return submit_.handle(std::move(submit));
         });
       }},
      {bus::kProgressSubject, work,
       [this](bus::Delivery delivery) { return progress_.handle(std::move(delivery)); }},
  };
  auto overhear = [this](bus::Delivery delivery) {
    return heartbeats_.overhear(std::move(delivery));
  };
  if (!replica_.settings.alone) {
    entries.push_back({bus::kResultSubject, {}, overhear});
    entries.push_back({bus::kCancelSubject, {}, overhear});
  }
  for (Entry& entry : entries) {
    auto guarded = [this, handler = std::move(entry.handler)](bus::Delivery delivery) {
      JobId job(job::peek_job_id(delivery.payload));
      return guard(std::move(job), handler(std::move(delivery)));
    };
    auto subscription = replica_.bus.subscribe(std::string(entry.subject), std::move(entry.options),
                                               std::move(guarded));
    if (!subscription) return std::unexpected(subscription.error());
    subscriptions_.push_back(*std::move(subscription));
  }
  return {};
}

Task<bus::Verdict> Scheduler::guard(JobId job, Task<bus::Verdict> handling) {
  return jobs_.guard(std::move(job), std::move(handling),
                     bus::Verdict::nak(limits::kRetryPanic, JobTasks::kPanic));
}

// One that comes for the first time goes straight on: handlers can tell a repeat. Nor is the
// store's silence about the others a reason to wait (BUS-6).
Task<bus::Verdict> Scheduler::handle_once(bus::Delivery delivery, bus::Handler handler) {
  if (delivery.deliveries == 1 || delivery.mark.empty()) return handler(std::move(delivery));
  return handle_unless_processed(std::move(delivery), std::move(handler));
}

Task<bus::Verdict> Scheduler::handle_unless_processed(bus::Delivery delivery,
                                                      bus::Handler handler) {
  auto processed = co_await replica_.store.processed({delivery.mark});
  if (processed && processed->front()) {
    replica_.metrics.add(Counter::kMessagesProcessedBefore);
    co_return bus::Verdict::ack();
  }
  if (!processed) {
    replica_.log.warning("it is not known whether a message was processed before",
                         {{"message", delivery.mark}, {"error", processed.error().message}});
  }
  auto handling = handler(std::move(delivery));
  co_return co_await std::move(handling);
}

void Scheduler::set_timeouts(Timeouts timeouts, std::map<Topic, Timeouts> topics) {
  replica_.settings.timeouts = timeouts;
  replica_.settings.topic_timeouts = std::move(topics);
}

void Scheduler::set_clock_offset(Duration machine, Duration in_use) {
  replica_.clock_is_off = std::chrono::abs(in_use) > limits::kClockOffsetMax;
  const auto size = std::chrono::abs(machine) / std::chrono::milliseconds(1);
  replica_.metrics.set(Gauge::kClockOffset, {}, static_cast<uint64_t>(size));
}

void Scheduler::set_pools(std::shared_ptr<const routing::PoolMap> pools) {
  std::vector<Topic> changed = routing::changed_topics(*replica_.pools, *pools);
  replica_.pools = std::move(pools);
  if (started_ && !changed.empty()) sweeps_.spawn(waiters_.reroute(std::move(changed)));
}

Future<Result<bus::Published>> Scheduler::submit(std::string packet, Admitted admitted) {
  if (submits_ >= limits::kHandlersInFlightMax) return bus::Published::kRefused;
  if (replica_.nursery.cancelled()) return fail(ErrorCode::kUnavailable, "the scheduler stops");
  Completer<Result<bus::Published>> answer;
  Future<Result<bus::Published>> future = answer.future();
  ++submits_;
  replica_.nursery.spawn(take_submit(std::move(packet), std::move(admitted), std::move(answer)));
  return future;
}

Task<void> Scheduler::take_submit(std::string packet, Admitted admitted,
                                  Completer<Result<bus::Published>> answer) {
  bus::Delivery delivery{.subject = std::string(bus::kSubmitSubject),
                         .payload = std::move(packet),
                         .stored_at = replica_.clock.wall()};
  JobId job(job::peek_job_id(delivery.payload));
  const bus::Verdict verdict =
      co_await guard(std::move(job), submit_.handle(std::move(delivery), std::move(admitted)));
  --submits_;
  if (verdict.kind == bus::Verdict::Kind::kAck) {
    answer.complete(bus::Published::kStored);
  } else {
    answer.complete(fail(ErrorCode::kUnavailable, verdict.reason));
  }
}

Task<std::optional<std::string>> Scheduler::throttled(cap::JobRequest request) {
  if (!may_throttle()) co_return std::nullopt;
  const job::Record record = job::new_record(request, {}, replica_.clock.wall());
  Result<job::Decision> decision = co_await replica_.gate.check(request, record);
  if (!decision || decision->kind != job::Decision::Kind::kThrottle) co_return std::nullopt;
  co_return decision->reason;
}

Task<Result<bool>> Scheduler::cancel(JobId job, std::string reason) {
  if (reason.empty()) reason = kCancelledByRequest;
  Result<bool> cancelled = co_await cancel_.cancel(job, reason, std::nullopt, true);
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
  return jobs_.guarded() + replica_.nursery.running();
}

Task<void> Scheduler::stop(Duration patience) {
  subscriptions_.clear();
  sweeps_.cancel();  // nothing new begins; what is under way keeps its leases
  MonotonicTime until = replica_.clock.monotonic() + patience;
  while (in_hand() > 0 && replica_.clock.monotonic() < until) {
    if (!co_await replica_.loop.delay(limits::kLeasePollEvery)) break;
  }
  loops_.cancel();
  replica_.nursery.cancel();
}

}  // namespace fairlead::scheduler
