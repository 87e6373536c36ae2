// One replica's scheduler: it listens on the bus, walks jobs to workers, and sweeps what is due.
//
// Everything runs on the loop it is plugged into. It can be destroyed at any moment, as by a crash:
// what it was doing is in the store, and the next one goes on from there.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scheduler/cancel.h"
#include "scheduler/commits.h"
#include "scheduler/dispatch.h"
#include "scheduler/hand_over.h"
#include "scheduler/heartbeats.h"
#include "scheduler/job_tasks.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/progress.h"
#include "scheduler/replica.h"
#include "scheduler/result.h"
#include "scheduler/revisits.h"
#include "scheduler/snapshot_keeper.h"
#include "scheduler/submit.h"
#include "scheduler/sweep.h"
#include "scheduler/waiters.h"
#include "scheduler/walk_ends.h"

namespace fairlead::scheduler {

class Scheduler {
 public:
  Scheduler(const Plugs& plugs, Settings settings, std::shared_ptr<const routing::PoolMap> pools);

  // Learns from the store what is out, then subscribes and begins to sweep.
  Task<Result<void>> start();

  // Takes no more messages, and waits until what it has in hand is done or `patience` is over.
  Task<void> stop(Duration patience);

  // Takes effect for the next placement; jobs that wait are tried again by it.
  void set_pools(std::shared_ptr<const routing::PoolMap> pools);
  // For jobs that are dispatched from now on.
  void set_timeouts(Timeouts timeouts, std::map<Topic, Timeouts> topics);
  void set_fail_open(bool open) { replica_.settings.safety_fail_open = open; }
  // How far the machine's clock is from the one that all replicas share, and how far the time that
  // this replica goes by. Where that is beyond limits::kClockOffsetMax nothing is done by it.
  void set_clock_offset(Duration machine, Duration in_use);

  // Takes a submit that comes from this process and not over the bus. Stored: its admission is
  // committed, and `admitted` is given its record. Refused: too many are under way.
  Future<Result<bus::Published>> submit(std::string packet, Admitted admitted = {});

  // Whether policy, asked in this process, would have a job come later that is about to be
  // submitted; and why. Policy elsewhere is not asked: there it is the job that waits.
  bool may_throttle() const { return replica_.gate.in_process() && replica_.gate.may_throttle(); }
  Task<std::optional<std::string>> throttled(cap::JobRequest request);

  // Ends a job and tells its worker. An empty reason stands for kCancelledByRequest.
  Task<Result<bool>> cancel(JobId job, std::string reason);

  // For a bus that is about to give a message up: keeps a dead letter of it.
  Task<Result<void>> bury(bus::Delivery delivery, std::string reason);

  // Tells `watcher` of every record that is committed here, after it is durable; an empty one ends
  // that. Called within the walk of the job: it may look, and must not call back.
  void watch(std::function<void(const store::Snapshot&)> watcher) {
    replica_.watcher = std::move(watcher);
  }

  const Metrics& metrics() const { return replica_.metrics; }
  const gate::Gate& gate() const { return replica_.gate; }
  const routing::WorkerRegistry& registry() const { return replica_.registry; }
  const routing::PoolMap& pools() const { return *replica_.pools; }
  const std::string& name() const { return replica_.name; }
  // Handlers and follow-ups under way, sweeps not counted.
  size_t in_hand() const;

 private:
  Task<void> look_again(JobId job, Revision found);
  Task<Result<void>> learn();
  Result<void> subscribe();
  // The verdict of a handler, whatever it throws.
  Task<bus::Verdict> guard(JobId job, Task<bus::Verdict> handling);
  // Handles a message that comes again only if no change has answered it.
  Task<bus::Verdict> handle_once(bus::Delivery delivery, bus::Handler handler);
  Task<bus::Verdict> handle_unless_processed(bus::Delivery delivery, bus::Handler handler);
  Task<void> take_submit(std::string packet, Admitted admitted,
                         Completer<Result<bus::Published>> answer);

  Replica replica_;
  LeaseKeeper leases_;
  JobTasks jobs_;
  Commits commits_;
  WalkEnds ends_;
  HandOver hand_over_;
  Dispatch dispatch_;
  Waiters waiters_;
  Revisits revisits_;
  Submit submit_;
  Results results_;
  Cancel cancel_;
  Progress progress_;
  Sweep sweep_;
  Heartbeats heartbeats_;
  SnapshotKeeper snapshots_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  bool started_ = false;
  size_t submits_ = 0;  // under way that did not come over the bus
  // Renewals, and sweeps: they end when told, not by themselves.
  Nursery loops_;
  Nursery sweeps_;
};

}  // namespace fairlead::scheduler
