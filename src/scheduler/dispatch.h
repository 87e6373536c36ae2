// The walk of a job from its record to a worker: judged by policy, placed, committed as DISPATCHED
// with a new epoch, handed to the bus.
//
//   advance ─► gate.check ─► resolve, pick ─► apply(DISPATCHED, epoch, mark) ─► publish ─► RUNNING
//      │           │              │                     │                          │
//      │        DENIED, …     waits, FAILED         waits, tries the next     SCHEDULED again, or
//      │                                                worker             the mark stays: a sweep
//      └─ a failure at any arrow leaves a record from which the same walk resumes
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/constraints.h"
#include "routing/remembered_routes.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/hand_over.h"
#include "scheduler/job_tasks.h"
#include "scheduler/judge.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walk_ends.h"
#include "scheduler/walker.h"
#include "scheduler/worker_choice.h"

namespace fairlead::scheduler {

// Of epochs that were handed out and then lost by the store (Store::rewound_at) nothing is known:
// afterwards all are higher than any was before.
Epoch next_epoch(Epoch last, WallTime rewound_at);

class Dispatch {
 public:
  Dispatch(Replica& replica, LeaseKeeper& leases, JobTasks& jobs, Commits& commits, WalkEnds& ends,
           HandOver& hand_over)
      : replica_(replica),
        jobs_(jobs),
        commits_(commits),
        ends_(ends),
        hand_over_(hand_over),
        judge_(replica, leases, commits, ends),
        choice_(replica) {}

  // Takes a job as far as it can go now. The lease ends with the walk.
  Task<Walked> advance(WalkerPtr walker);

 private:
  // A line that a job has to join.
  struct Behind {
    job::ReasonCode reason;
    std::string detail;
    std::string wait_class;
  };

  void begin(Walker& walker, WallTime now);
  // Looks up what is configured for the job; without it, the job goes on all the same.
  Task<void> configure(Walker& walker);
  Task<Walked> place(WalkerPtr walker, std::shared_ptr<const routing::Route> route);
  std::optional<Behind> line_to_join(const Walker& walker, const routing::Route& route);
  Task<Walked> try_workers(WalkerPtr walker, std::shared_ptr<const routing::Route> route);
  // The store calls a worker full that has room as far as this replica knows: others gave it jobs.
  // Without them it would be tried again and again, and one that lost them never be found out.
  Task<void> learn_held(WorkerId worker);
  store::Change dispatch_change(const Walker& walker, const Placed& placed,
                                const job::Limits& limits);
  Task<Result<store::Receipt>> commit_dispatch(const Walker& walker, const Placed& placed,
                                               const job::Limits& limits);
  Task<Result<store::Receipt>> follow_dispatch(const Walker& walker,
                                               Task<Result<store::Receipt>> committing);

  Replica& replica_;
  JobTasks& jobs_;
  Commits& commits_;
  WalkEnds& ends_;
  HandOver& hand_over_;
  Judge judge_;
  WorkerChoice choice_;
};

}  // namespace fairlead::scheduler
