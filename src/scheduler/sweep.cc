#include "scheduler/sweep.h"

#include <algorithm>
#include <utility>

#include "scheduler/go_duration.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

using job::State;
using store::Query;

Task<void> Sweep::keep_sweeping() {
  count_stale({});
  while (co_await replica_.loop.delay(limits::kSweepEvery)) co_await sweep();
}

// What is late or due is found by one replica for all; what has to be mended within seconds, by
// all.
Task<void> Sweep::sweep() {
  MonotonicTime now = replica_.clock.monotonic();
  std::erase_if(replica_.left_alone, [now](const auto& job) { return job.second <= now; });
  const bool reconciles = co_await reconciles_for_all();
  const bool replays = co_await replays_for_all();
  if (reconciles || replays) co_await sweep_due(reconciles, replays);
  if (reconciles) co_await sweep_deadlines();
  co_await sweep_unpublished();
  co_await sweep_waiting();
  sweep_workers();
  if (now >= told_workers_at_) {
    if (told_workers_at_ != MonotonicTime()) tell_workers();
    told_workers_at_ = now + limits::kTellWorkersEvery;
  }
  if (now >= orphans_at_) {
    orphans_at_ = now + limits::kOrphanSweepEvery;
    if (!publishes_orphans_ && replica_.has_bus()) replica_.nursery.spawn(publish_orphans());
  }
}

// A bus that does not answer holds up nothing else.
Task<void> Sweep::publish_orphans() {
  publishes_orphans_ = true;
  co_await commits_.publish_orphans();
  publishes_orphans_ = false;
}

// Who knows that its clock is wrong leaves it to another.
Task<bool> Sweep::reconciles_for_all() {
  if (replica_.clock_is_off) {
    co_await reconciler_.resign();
    co_return false;
  }
  // Without a bus it is not seen what becomes of the jobs that are out: another may have one, or
  // get one back before this one does.
  if (replica_.has_bus()) {
    resigns_at_ = {};
  } else if (const MonotonicTime now = replica_.clock.monotonic(); now >= resigns_at_) {
    resigns_at_ = now + limits::kTimeoutsAfterBus;
    co_await reconciler_.resign();
  }
  co_return co_await reconciler_.leads();
}

// Likewise who cannot hand jobs to anybody. Go schedulers do not replay while their own
// lease is held, and know nothing of our due times when they hold it.
Task<bool> Sweep::replays_for_all() {
  if (!replica_.has_bus() || replica_.clock_is_off) {
    co_await sweeper_.resign();
    co_await replayer_.resign();
    co_return false;
  }
  const bool leads = co_await sweeper_.leads();
  if (leads) (void)co_await replayer_.leads();
  co_return leads;
}

// In small batches, so that commits pass between them, until nothing is left to go.
Task<void> Sweep::keep_retiring() {
  do {
    if (replica_.clock_is_off || !co_await sweeper_.leads()) continue;
    Result<size_t> gone = size_t{0};
    do {
      gone = co_await replica_.store.retire(replica_.clock.wall(), limits::kRetireBatch);
    } while (gone && *gone > 0 && co_await replica_.loop.delay(limits::kRetirePause));
  } while (co_await replica_.loop.delay(replica_.settings.alone ? limits::kRetireEvery
                                                                : limits::kRetireSharedEvery));
}

Task<void> Sweep::sweep_due(bool reconciles, bool replays) {
  // A job that is out may have ended where that cannot be read now.
  const bool times_out = reconciles && replica_.has_settled_bus();
  // Those that are not dealt with stay in what the scan finds.
  const size_t limit = times_out && replays ? batch() : limits::kScanMax;
  Result<store::Page> page = co_await replica_.store.scan({.by = Query::By::kDue, .limit = limit});
  if (!is_told(page)) co_return;
  count_stale(page->records);
  for (job::Record& record : page->records) {
    if (!job::holds_worker_slot(record)) {
      if (replays) look_at(record);
      continue;
    }
    if (!times_out || !begin(record.id)) continue;
    const Timeouts& timeouts = replica_.settings.timeouts_of(record.topic);
    bool running = record.state == State::kRunning;
    std::string reason = std::string("timeout: ") + job::to_string(record.state) + " >" +
                         go_duration(running ? timeouts.running : timeouts.dispatch);
    JobId job = record.id;
    jobs_.spawn(std::move(job), time_out(std::move(record), std::move(reason)));
  }
}

Task<void> Sweep::sweep_deadlines() {
  Result<store::Page> page =
      co_await replica_.store.scan({.by = Query::By::kDeadline, .limit = batch()});
  if (!is_told(page)) co_return;
  for (job::Record& record : page->records) {
    if (!begin(record.id)) continue;
    JobId job = record.id;
    jobs_.spawn(std::move(job), time_out(std::move(record), "timeout: deadline expired"));
  }
}

Task<void> Sweep::sweep_unpublished() {
  Result<store::Page> page = co_await replica_.store.scan(
      {.by = Query::By::kUnpublished, .age = limits::kUnpublishedAfter, .limit = batch()});
  if (!is_told(page)) co_return;
  for (const job::Record& record : page->records) look_at(record);
}

bool Sweep::is_told(const Result<store::Page>& page) {
  if (page) return true;
  const MonotonicTime now = replica_.clock.monotonic();
  if (told_failure_at_ == MonotonicTime() || now >= told_failure_at_ + limits::kTellWorkersEvery) {
    told_failure_at_ = now;
    replica_.log.error("what is due cannot be read", {{"error", page.error().message}});
  }
  return false;
}

void Sweep::count_stale(const std::vector<job::Record>& due) {
  for (State state : {State::kDispatched, State::kRunning}) {
    auto count = std::ranges::count(due, state, &job::Record::state);
    replica_.metrics.set(Gauge::kStaleJobs, job::to_string(state), static_cast<uint64_t>(count));
  }
}

size_t Sweep::batch() const {
  return std::min(limits::kSweepBatch + replica_.left_alone.size(), limits::kScanMax);
}

bool Sweep::begin(const JobId& job) {
  return replica_.left_alone.try_emplace(job, MonotonicTime::max()).second;
}

void Sweep::look_at(const job::Record& record) {
  if (!replica_.has_bus()) return;  // it could not be handed to anybody
  if (begin(record.id)) jobs_.spawn(record.id, revisit(record.id, record.revision));
}

Task<void> Sweep::revisit(JobId job, Revision found) {
  Duration pause = co_await revisits_.revisit(job, found);
  replica_.left_alone[job] = replica_.clock.monotonic() + pause;
}

// Guarded by the revision that was late, so a job that moved on is not touched (H-60).
Task<void> Sweep::time_out(job::Record record, std::string reason) {
  bool with_worker = may_be_with_a_worker(record);
  JobId job = record.id;
  WallTime now = replica_.clock.wall();
  store::Change change =
      ending_change(std::move(record), {},
                    {State::kTimeout, job::ReasonCode::kTimeout, {}, std::move(reason)}, now);
  if (with_worker) change.messages.push_back(cancel_message(job, "timeout", now));
  (void)co_await commits_.commit_ending(std::move(change));
  replica_.left_alone.erase(job);
}

Task<void> Sweep::sweep_waiting() {
  if (!replica_.has_bus()) co_return;
  auto claims = co_await replica_.store.claim({{}, limits::kSweepBatch});
  if (claims) {
    for (store::Claim& claim : *claims) {
      replica_.nursery.spawn(waiters_.try_claimed(std::move(claim)));
    }
  }
  auto classes = co_await replica_.store.waiting(listed_, limits::kScanMax);
  if (!classes) co_return;
  bool last = classes->size() < limits::kScanMax;
  std::vector<std::string> unknown = commits_.board().refresh(listed_, *classes, last);
  listed_ = last ? "" : classes->back().wait_class;
  for (std::string& wait_class : unknown) co_await waiters_.wake(std::move(wait_class));
}

void Sweep::sweep_workers() {
  for (WorkerId& worker : replica_.presence.take_gone()) {
    replica_.metrics.add(Counter::kWorkersLost);
    replica_.nursery.spawn(lose_worker(std::move(worker)));
  }
}

void Sweep::tell_workers() const {
  size_t total = 0;
  std::string by_pool;
  for (const auto& [pool, workers] : replica_.registry.count_by_pool(replica_.clock.monotonic())) {
    by_pool += (by_pool.empty() ? "" : ", ") + pool + ": " + std::to_string(workers);
    total += workers;
  }
  replica_.log.info("worker registry", {{"workers", std::to_string(total)}, {"pools", by_pool}});
}

Task<void> Sweep::lose_worker(WorkerId worker) {
  replica_.ghosts.erase(worker);
  Query theirs{.by = Query::By::kWorker, .text = worker.str(), .limit = limits::kScanMax};
  bool all = true;
  do {
    Result<store::Page> page = co_await replica_.store.scan(theirs);
    if (!page) {
      all = false;
      break;
    }
    theirs.cursor = std::move(page->next);
    for (const job::Record& record : page->records) {
      if (record.worker_lost) continue;
      if (!co_await jobs_.guard(record.id, lose_job(record.id, worker), false)) all = false;
    }
  } while (!theirs.cursor.empty());
  if (!all) replica_.presence.expect(worker);  // look again
}

namespace {

// Whether the job says that it may run twice.
bool may_run_twice(const std::string& request_bytes) {
  cap::JobRequest request;
  if (!request.ParseFromString(request_bytes)) return false;
  auto label = request.labels().find("retry_on_worker_loss");
  return label != request.labels().end() && label->second == "true";
}

}  // namespace

// Marked, and tried again only if the job says that it may run twice; else it times out as usual.
Task<bool> Sweep::lose_job(JobId job, WorkerId worker) {
  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    Result<store::Loaded> loaded = co_await replica_.store.load(job, {.with_request = true});
    if (!loaded) co_return false;
    const store::Snapshot& record = loaded->record;
    if (!record || !job::holds_worker_slot(*record) || record->assignee != worker ||
        record->worker_lost) {
      co_return true;
    }
    // It may just be that nobody can be heard.
    if (replica_.presence.may_live(worker)) co_return !replica_.presence.is_young();
    WallTime now = replica_.clock.wall();
    store::Change change;
    change.guard.revision = record->revision;
    *change.next = *record;
    job::Record& next = *change.next;
    next.updated_at = now;
    next.worker_lost = true;
    if (may_run_twice(loaded->request)) {
      change.claim_from = commits_.room_left_by(next);
      job::open_epoch(next);
      if (next.state == State::kRunning) next.approval.reset();
      next.state = State::kRetrying;
      change.path = {State::kRetrying};
      next.publish_pending = false;
      next.wait = {job::ReasonCode::kWorkerLost, worker.str(), {}, now};
      next.due = now;
    }
    job::add_event(next, now, "worker lost: " + worker.str());
    Result<store::Receipt> receipt = co_await commits_.commit(std::move(change));
    if (!receipt) co_return false;
    if (!std::holds_alternative<store::Conflict>(*receipt)) co_return true;
  }
  co_return false;
}

}  // namespace fairlead::scheduler
