// Policy judges a job on its walk, and what it says happens (SAFE-*, CON-3, CON-5).
#pragma once

#include <optional>

#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walk_ends.h"
#include "scheduler/walker.h"

namespace fairlead::scheduler {

// Whether a person has approved this request, under the policy that asked for it.
bool is_approved(const job::Record& record, const cap::JobRequest& request);

class Judge {
 public:
  Judge(Replica& replica, LeaseKeeper& leases, Commits& commits, WalkEnds& ends)
      : replica_(replica), leases_(leases), commits_(commits), ends_(ends) {}

  // Asks policy. No value: the walk goes on.
  Task<std::optional<Walked>> ask(Walker& walker);

 private:
  // Policy elsewhere is asked about as many jobs as it may be at once.
  bool is_busy() const;
  // It has answered about a job that came straight to it: one that waits may be next.
  void let_next_ask(const Walker& walker, const job::Decision& answer);

  Replica& replica_;
  LeaseKeeper& leases_;
  Commits& commits_;
  WalkEnds& ends_;
  size_t asking_ = 0;  // under way
};

}  // namespace fairlead::scheduler
