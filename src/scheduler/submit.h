// A job comes in, for the first time or again (IN-*, GATE-*).
#pragma once

#include "bus/bus.h"
#include "runtime/task.h"
#include "scheduler/dispatch.h"
#include "scheduler/job_tasks.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/revisits.h"
#include "scheduler/walk_ends.h"

namespace fairlead::scheduler {

class Submit {
 public:
  Submit(Replica& replica, LeaseKeeper& leases, JobTasks& jobs, Commits& commits, WalkEnds& ends,
         Dispatch& dispatch, Revisits& revisits)
      : replica_(replica),
        leases_(leases),
        jobs_(jobs),
        commits_(commits),
        ends_(ends),
        dispatch_(dispatch),
        revisits_(revisits) {}

  // Acknowledged when the admission is committed: from then on the record says what is next.
  Task<bus::Verdict> handle(bus::Delivery delivery, Admitted admitted = {});

 private:
  bool is_replay(const bus::Delivery& delivery) const;
  WalkerPtr begin(Packet packet, const bus::Delivery& delivery);
  Task<bus::Verdict> admit(WalkerPtr walker, const bus::Delivery& delivery);
  void adopt(Walker& walker, const job::Record& submitted);
  Task<bus::Verdict> handle_known(WalkerPtr walker, store::Loaded known,
                                  const bus::Delivery& delivery);
  Task<bus::Verdict> answer_with(Task<Walked> walk, const bus::Delivery& delivery);
  Task<void> advance_alone(WalkerPtr walker);

  Replica& replica_;
  LeaseKeeper& leases_;
  JobTasks& jobs_;
  Commits& commits_;
  WalkEnds& ends_;
  Dispatch& dispatch_;
  Revisits& revisits_;
};

// What to do with a submit that finds its job there already (GATE-1..GATE-3).
enum class GateStep {
  kAcknowledge,         // it is on its way, or over, or its time has not come
  kRefuse,              // the id belongs to a job of other content
  kResume,              // it waits: try it now
  kResolveUnpublished,  // its dispatch may never have been published
};
GateStep redelivery_gate(const job::Record& known, const job::Record& submitted, WallTime now);

}  // namespace fairlead::scheduler
