// How a walk ends that leads to no worker: the job waits, pauses, is parked for a person, or is
// over. Each is one commit, and ends the lease.
#pragma once

#include <string>

#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/ending.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walker.h"

namespace fairlead::scheduler {

class WalkEnds {
 public:
  WalkEnds(Replica& replica, LeaseKeeper& leases, Commits& commits)
      : replica_(replica), leases_(leases), commits_(commits) {}

  // It waits in a class, for what others of that class wait for too; or is given up, when it has
  // made its attempts.
  Task<Walked> wait(Walker& walker, job::ReasonCode reason, std::string detail,
                    std::string wait_class);
  // Policy could not be asked: it waits in a class with all others of which that is so, behind
  // them. No attempt is counted.
  Task<Walked> wait_for_policy(Walker& walker, std::string detail,
                               Duration pause = limits::kRetrySafety);
  // Policy is asked about too many others: it waits in the same class, where it stood if it did.
  Task<Walked> queue_for_policy(Walker& walker);
  // It waits for a time alone.
  Task<Walked> pause(Walker& walker, job::ReasonCode reason, std::string detail, Duration delay);
  // A person has to approve it.
  Task<Walked> park_for_approval(Walker& walker);
  Task<Walked> end(Walker& walker, Ending ending);
  // Its attempts are made.
  Task<Walked> give_up(Walker& walker, job::ReasonCode reason);

  // Its worker may have it, and lives: it keeps its slots and its mark. Where it would have to wait
  // for policy, a time, a person or room at its worker it stays as it is, and is looked at again
  // later.
  bool may_be_out(const Walker& walker) const;
  Walked stay(const Walker& walker, Duration pause);

  // A change of the walk was not applied: ends the lease, and tells what that means.
  Walked not_applied(const Walker& walker, const Result<store::Receipt>& receipt);

 private:
  // The change of a walk that ends without a worker, but for what the job waits for.
  store::Change waiting_change(const Walker& walker, WallTime now) const;
  Task<Walked> finish(Walker& walker, store::Change change, Outcome outcome);

  Replica& replica_;
  LeaseKeeper& leases_;
  Commits& commits_;
};

}  // namespace fairlead::scheduler
