// Those who wait: they are claimed when room comes for them, tried, and given back if it went.
#pragma once

#include <string>
#include <vector>

#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/dispatch.h"
#include "scheduler/job_tasks.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walk_ends.h"

namespace fairlead::scheduler {

class Waiters {
 public:
  Waiters(Replica& replica, LeaseKeeper& leases, JobTasks& jobs, Commits& commits, WalkEnds& ends,
          Dispatch& dispatch)
      : replica_(replica),
        leases_(leases),
        jobs_(jobs),
        commits_(commits),
        ends_(ends),
        dispatch_(dispatch) {}

  // Tries a waiting job that was claimed for us; gives it back if there is no room for it. `opened`
  // is the pool of the worker that it was claimed for, when one came online.
  Task<void> try_claimed(store::Claim claim, PoolName opened = {});
  // Tries the next job of a class, if a worker could take it.
  Task<void> wake(std::string wait_class);
  // Tries the next `count` in any case.
  Task<void> try_next(std::string wait_class, size_t count = 1);
  // Offers free slots of a worker to the jobs that wait for it.
  Task<void> offer(WorkerId worker);

  // Tries all who wait among the jobs of these topics: they may go to other pools now, and their
  // classes be those of nobody else.
  Task<void> reroute(std::vector<Topic> topics);

 private:
  // True when it came to its end.
  Task<bool> follow_claim(store::Claim claim, PoolName opened);
  Task<bool> reroute(job::State state, const std::vector<Topic>& topics, WallTime changed);
  Task<void> try_elsewhere(JobId job);
  Task<bool> reroute(JobId job);

  Replica& replica_;
  LeaseKeeper& leases_;
  JobTasks& jobs_;
  Commits& commits_;
  WalkEnds& ends_;
  Dispatch& dispatch_;
  // Under way: of those who waited for policy, and of those who are rerouted.
  size_t asking_policy_ = 0;
  size_t rerouting_ = 0;
};

}  // namespace fairlead::scheduler
