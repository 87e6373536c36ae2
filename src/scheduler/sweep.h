// The clock's part: what is due, late, lost or left behind is found here, within a second or a few,
// and never by looking at jobs for which nothing is due.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/task.h"
#include "scheduler/job_tasks.h"
#include "scheduler/leader.h"
#include "scheduler/replica.h"
#include "scheduler/revisits.h"
#include "scheduler/waiters.h"

namespace fairlead::scheduler {

class Sweep {
 public:
  Sweep(Replica& replica, JobTasks& jobs, Commits& commits, Waiters& waiters, Revisits& revisits)
      : replica_(replica), jobs_(jobs), commits_(commits), waiters_(waiters), revisits_(revisits) {}

  // Runs for as long as the replica lives.
  Task<void> keep_sweeping();
  // Likewise: drops what has outlived its time.
  Task<void> keep_retiring();
  // One round: due times, deadlines, unpublished dispatches, waiting classes, silent workers.
  Task<void> sweep();

 private:
  Task<void> publish_orphans();
  Task<bool> reconciles_for_all();
  Task<bool> replays_for_all();
  Task<void> sweep_due(bool reconciles, bool replays);
  Task<void> sweep_deadlines();
  Task<void> sweep_unpublished();
  Task<void> sweep_waiting();
  void sweep_workers();
  void tell_workers() const;
  // Whether the store told what was asked for; says so, now and then, when it did not.
  bool is_told(const Result<store::Page>& page);
  void count_stale(const std::vector<job::Record>& due);
  // Those that are left alone stay in what a scan finds: others are found behind them.
  size_t batch() const;
  // False while the job is being looked at, or left alone.
  bool begin(const JobId& job);
  void look_at(const job::Record& record);
  Task<void> revisit(JobId job, Revision found);
  Task<void> time_out(job::Record record, std::string reason);
  Task<void> lose_worker(WorkerId worker);
  // False when the store could not say.
  Task<bool> lose_job(JobId job, WorkerId worker);

  Replica& replica_;
  JobTasks& jobs_;
  Commits& commits_;
  Waiters& waiters_;
  Revisits& revisits_;
  // The first two are the Go services' own: deadlines and timeouts, and jobs that wait for nothing
  // but a time. The third says which of our replicas does the latter.
  Leader reconciler_{replica_, "cordum:reconciler:default"};
  Leader replayer_{replica_, "cordum:replayer:pending"};
  Leader sweeper_{replica_, "fairlead:sweeper"};
  MonotonicTime resigns_at_{};  // while there is no bus
  MonotonicTime orphans_at_{};
  bool publishes_orphans_ = false;
  MonotonicTime told_workers_at_{};
  MonotonicTime told_failure_at_{};
  // The waiting class at which the last round's page of them ended; empty: at the end.
  std::string listed_;
};

}  // namespace fairlead::scheduler
