#include "scheduler/sweep.h"

#include "scheduler/go_duration.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

using job::State;
using store::Query;

Task<void> Sweep::keep_sweeping() {
  while (co_await replica_.loop.delay(limits::kSweepEvery)) co_await sweep();
}

Task<void> Sweep::sweep() {
  co_await sweep_due();
  co_await sweep_deadlines();
  co_await sweep_waiting();
  co_await sweep_workers();
  MonotonicTime now = replica_.clock.monotonic();
  if (now >= orphans_at_) {
    orphans_at_ = now + limits::kOrphanSweepEvery;
    co_await commits_.publish_orphans(replica_.clock.wall() - limits::kOrphanAfter);
  }
}

// In small batches, so that commits pass between them, until nothing is left to go.
Task<void> Sweep::keep_retiring() {
  do {
    Result<size_t> gone = size_t{0};
    do {
      gone = co_await replica_.store.retire(replica_.clock.wall(), limits::kRetireBatch);
    } while (gone && *gone > 0 && co_await replica_.loop.delay(limits::kRetirePause));
  } while (co_await replica_.loop.delay(limits::kRetireEvery));
}

Task<void> Sweep::sweep_due() {
  WallTime now = replica_.clock.wall();
  Query due{Query::By::kDue, {}, now, limits::kSweepBatch, {}};
  Result<store::Page> page = co_await replica_.store.scan(std::move(due));
  if (!page) co_return;
  for (job::Record& record : page->records) {
    if (!job::holds_worker_slot(record)) {
      look_at(record.id);
      continue;
    }
    const Timeouts& timeouts = replica_.settings.timeouts_of(record.topic);
    bool running = record.state == State::kRunning;
    std::string reason = std::string("timeout: ") + job::to_string(record.state) + " >" +
                         go_duration(running ? timeouts.running : timeouts.dispatch);
    co_await time_out(std::move(record), std::move(reason));
  }

  Query unpublished{
      Query::By::kUnpublished, {}, now - limits::kUnpublishedAfter, limits::kSweepBatch, {}};
  page = co_await replica_.store.scan(std::move(unpublished));
  if (!page) co_return;
  for (const job::Record& record : page->records) look_at(record.id);
}

void Sweep::look_at(const JobId& job) {
  if (looking_.insert(job).second) replica_.nursery.spawn(revisit(job));
}

Task<void> Sweep::revisit(JobId job) {
  co_await dispatch_.revisit(job);
  looking_.erase(job);
}

Task<void> Sweep::sweep_deadlines() {
  Query late{Query::By::kDeadline, {}, replica_.clock.wall(), limits::kSweepBatch, {}};
  Result<store::Page> page = co_await replica_.store.scan(std::move(late));
  if (!page) co_return;
  for (job::Record& record : page->records) {
    co_await time_out(std::move(record), "timeout: deadline expired");
  }
}

// Guarded by the revision that was late, so a job that moved on is not touched (H-60).
Task<void> Sweep::time_out(job::Record record, std::string reason) {
  bool with_worker = job::holds_worker_slot(record);
  JobId job = record.id;
  WallTime now = replica_.clock.wall();
  store::Change change =
      ending_change(std::move(record), {},
                    {State::kTimeout, job::ReasonCode::kTimeout, {}, std::move(reason)}, now);
  if (with_worker) {
    change.messages.push_back({std::string(bus::kCancelSubject),
                               cancel_packet(job, "timeout", now),
                               "cancel:" + job.str(),
                               {}});
  }
  (void)co_await commits_.commit_ending(std::move(change));
}

Task<void> Sweep::sweep_waiting() {
  auto claims = co_await replica_.store.claim({{}, limits::kSweepBatch});
  if (claims) {
    for (store::Claim& claim : *claims) {
      replica_.nursery.spawn(dispatch_.try_claimed(std::move(claim)));
    }
  }
  auto classes = co_await replica_.store.waiting(listed_, limits::kScanMax);
  if (!classes) co_return;
  bool last = classes->size() < limits::kScanMax;
  std::vector<std::string> unknown = commits_.board().refresh(listed_, *classes, last);
  listed_ = last ? "" : classes->back().wait_class;
  for (std::string& wait_class : unknown) co_await dispatch_.wake(std::move(wait_class));
}

void Sweep::expect(const WorkerId& worker) {
  expected_.try_emplace(worker, replica_.clock.monotonic() + limits::kWorkerTtl);
}

Task<void> Sweep::sweep_workers() {
  MonotonicTime now = replica_.clock.monotonic();
  std::vector<WorkerId> lost = replica_.registry.sweep(now);
  for (auto it = expected_.begin(); it != expected_.end();) {
    if (it->second >= now) {
      ++it;
      continue;
    }
    lost.push_back(it->first);
    it = expected_.erase(it);
  }
  for (WorkerId& worker : lost) {
    replica_.metrics.add(Counter::kWorkersLost);
    co_await lose_worker(std::move(worker));
  }
}

Task<void> Sweep::lose_worker(WorkerId worker) {
  replica_.ghosts.erase(worker);
  Query theirs{Query::By::kWorker, worker.str(), WallTime::max(), limits::kScanMax, {}};
  do {
    Result<store::Page> page = co_await replica_.store.scan(theirs);
    if (!page) {
      expect(worker);  // look again
      co_return;
    }
    theirs.cursor = std::move(page->next);
    for (job::Record& record : page->records) {
      if (!record.worker_lost) co_await lose_job(std::move(record));
    }
  } while (!theirs.cursor.empty());
}

// Marked, and tried again only if the job says that it may run twice; else it times out as usual.
Task<void> Sweep::lose_job(job::Record record) {
  Result<store::Loaded> loaded = co_await replica_.store.load(record.id, {.with_request = true});
  if (!loaded) {
    expect(record.assignee);
    co_return;
  }
  cap::JobRequest request;
  bool again = request.ParseFromString(loaded->request);
  auto label = request.labels().find("retry_on_worker_loss");
  again = again && label != request.labels().end() && label->second == "true";

  WallTime now = replica_.clock.wall();
  store::Change change;
  change.guard.revision = record.revision;
  *change.next = std::move(record);
  job::Record& next = *change.next;
  next.updated_at = now;
  next.worker_lost = true;
  if (again) {
    next.open_epochs.push_back({next.epoch, next.assignee});
    if (next.open_epochs.size() > limits::kOpenEpochsMax) {
      next.open_epochs.erase(next.open_epochs.begin());
    }
    next.state = State::kRetrying;
    change.path = {State::kRetrying};
    next.publish_pending = false;
    next.wait = {job::ReasonCode::kWorkerLost, next.assignee.str(), {}, now};
    next.due = now;
  }
  job::add_event(next, now, "worker lost: " + next.assignee.str());
  WorkerId worker = next.assignee;
  if (!co_await commits_.commit(std::move(change))) expect(worker);  // look again
}

}  // namespace fairlead::scheduler
