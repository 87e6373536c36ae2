// Policy judges a job on its walk, and what it says happens (SAFE-*, CON-3, CON-5).
#pragma once

#include <optional>

#include "runtime/task.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walk_ends.h"
#include "scheduler/walker.h"

namespace fairlead::scheduler {

// Whether a person has approved this request, under the policy that asked for it.
bool is_approved(const job::Record& record, const cap::JobRequest& request);

class Judge {
 public:
  Judge(Replica& replica, LeaseKeeper& leases, WalkEnds& ends)
      : replica_(replica), leases_(leases), ends_(ends) {}

  // Asks policy. No value: the walk goes on.
  Task<std::optional<Walked>> ask(Walker& walker);

 private:
  Replica& replica_;
  LeaseKeeper& leases_;
  WalkEnds& ends_;
};

}  // namespace fairlead::scheduler
