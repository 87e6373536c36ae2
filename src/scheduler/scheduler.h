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
#include "scheduler/heartbeats.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/result.h"
#include "scheduler/snapshot_keeper.h"
#include "scheduler/submit.h"
#include "scheduler/sweep.h"

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

  // Ends a job and tells its worker.
  Task<Result<bool>> cancel(JobId job, std::string reason);

  // For a bus that is about to give a message up: keeps a dead letter of it.
  Task<Result<void>> bury(bus::Delivery delivery, std::string reason);

  // Tells `watcher` of every record that is committed here, after it is durable; an empty one ends
  // that. Called within the walk of the job: it may look, and must not call back.
  void watch(std::function<void(const job::Record&)> watcher) {
    replica_.watcher = std::move(watcher);
  }

  const Metrics& metrics() const { return replica_.metrics; }
  const routing::WorkerRegistry& registry() const { return replica_.registry; }
  const routing::PoolMap& pools() const { return *replica_.pools; }
  const std::string& name() const { return replica_.name; }
  // Handlers and follow-ups under way, sweeps not counted.
  size_t in_hand() const;

 private:
  Task<Result<void>> learn();
  Result<void> subscribe();

  Replica replica_;
  LeaseKeeper leases_;
  Commits commits_;
  Dispatch dispatch_;
  Submit submit_;
  Results results_;
  Cancel cancel_;
  Sweep sweep_;
  Heartbeats heartbeats_;
  SnapshotKeeper snapshots_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  // Renewals, and sweeps: they end when told, not by themselves.
  Nursery loops_;
  Nursery sweeps_;
};

}  // namespace fairlead::scheduler
