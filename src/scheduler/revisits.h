// Jobs that are met again on their way: their walk resumes, or a dispatch that is not known to be
// published is resolved.
#pragma once

#include "runtime/task.h"
#include "scheduler/dispatch.h"
#include "scheduler/hand_over.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walk_ends.h"

namespace fairlead::scheduler {

class Revisits {
 public:
  Revisits(Replica& replica, LeaseKeeper& leases, WalkEnds& ends, HandOver& hand_over,
           Dispatch& dispatch)
      : replica_(replica),
        leases_(leases),
        ends_(ends),
        hand_over_(hand_over),
        dispatch_(dispatch) {}

  // Looks at a job whose time had come at the revision `found`. Tells how long to leave it alone
  // now.
  Task<Duration> revisit(JobId job, Revision found);

  // The dispatch of a walker's record may have been published: find out, or begin a new epoch.
  Task<Walked> resolve_unpublished(WalkerPtr walker);

 private:
  Replica& replica_;
  LeaseKeeper& leases_;
  WalkEnds& ends_;
  HandOver& hand_over_;
  Dispatch& dispatch_;
};

}  // namespace fairlead::scheduler
