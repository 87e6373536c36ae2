// The clock's part: what is due, late, lost or left behind is found here, within a second or a few,
// and never by looking at jobs for which nothing is due.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/task.h"
#include "scheduler/dispatch.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class Sweep {
 public:
  Sweep(Replica& replica, Commits& commits, Dispatch& dispatch)
      : replica_(replica), commits_(commits), dispatch_(dispatch) {}

  // Runs for as long as the replica lives.
  Task<void> keep_sweeping();
  // Likewise: drops what has outlived its time.
  Task<void> keep_retiring();
  // One round: due times, unpublished dispatches, deadlines, waiting classes, silent workers.
  Task<void> sweep();

  // A worker that jobs are out with was not heard yet: it is given a TTL to appear.
  void expect(const WorkerId& worker);
  void heard(const WorkerId& worker) { expected_.erase(worker); }

 private:
  Task<void> sweep_due();
  Task<void> sweep_deadlines();
  Task<void> sweep_workers();
  Task<void> sweep_waiting();
  void look_at(const JobId& job);
  Task<void> revisit(JobId job);
  Task<void> time_out(job::Record record, std::string reason);
  Task<void> lose_worker(WorkerId worker);
  Task<void> lose_job(job::Record record);

  Replica& replica_;
  Commits& commits_;
  Dispatch& dispatch_;
  std::set<JobId> looking_;
  std::map<WorkerId, MonotonicTime> expected_;
  MonotonicTime orphans_at_{};
  // The waiting class at which the last round's page of them ended; empty: at the end.
  std::string listed_;
};

}  // namespace fairlead::scheduler
