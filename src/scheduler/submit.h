// A job comes in, for the first time or again (IN-*, GATE-*).
#pragma once

#include "bus/bus.h"
#include "runtime/task.h"
#include "scheduler/dispatch.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class Submit {
 public:
  Submit(Replica& replica, LeaseKeeper& leases, Commits& commits, Dispatch& dispatch)
      : replica_(replica), leases_(leases), commits_(commits), dispatch_(dispatch) {}

  // Acknowledged when the admission is committed: from then on the record says what is next.
  Task<bus::Verdict> handle(bus::Delivery delivery);

 private:
  Task<bus::Verdict> handle_new(WalkerPtr walker);
  Task<bus::Verdict> handle_known(WalkerPtr walker, const job::Record& submitted);
  Task<void> advance_alone(WalkerPtr walker);

  Replica& replica_;
  LeaseKeeper& leases_;
  Commits& commits_;
  Dispatch& dispatch_;
};

// What to do with a submit that finds its job there already (GATE-1..GATE-3).
enum class GateStep {
  kAcknowledge,         // it is on its way, or over
  kRefuse,              // the id belongs to a job of other content
  kResume,              // it waits: try it now
  kResolveUnpublished,  // its dispatch may never have been published
};
GateStep redelivery_gate(const job::Record& known, const job::Record& submitted);

}  // namespace fairlead::scheduler
