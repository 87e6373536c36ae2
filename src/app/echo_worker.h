// A worker inside the process: it answers every job with what the job was given. It speaks to the
// scheduler over the bus as any worker does: heartbeats, its own subject, results.
//
// It leaves jobs to others: while other workers take all that its pool serves it reports itself as
// busy.
#pragma once

#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "bus/bus.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"
#include "scheduler/scheduler.h"
#include "store/store.h"

namespace fairlead::app {

class EchoWorker {
 public:
  struct Plugs {
    Loop& loop;
    const Clock& clock;
    bus::Bus& bus;
    store::Store& store;
    const scheduler::Scheduler& scheduler;  // knows the other workers
    Duration results_kept;
  };

  // All plugs outlive the worker.
  EchoWorker(const Plugs& plugs, WorkerId id, PoolName pool);

  // Listens for jobs and begins to send heartbeats.
  Result<void> start();

 private:
  Task<void> keep_beating();
  void beat();
  // Others came, went or changed: the scheduler has heard it before us.
  Task<bus::Verdict> look_around(bus::Delivery delivery);
  bool others_take_all() const;
  Task<bus::Verdict> take(bus::Delivery delivery);
  Task<void> work(cordum::agent::v1::BusPacket packet);

  const Plugs plugs_;
  const WorkerId id_;
  const PoolName pool_;
  bool told_busy_ = false;
  int active_ = 0;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  Nursery tasks_;
};

}  // namespace fairlead::app
