// Work on jobs, so that what it throws about one of them ends nothing else (IN-3): that is logged,
// the job's lease ends, and sweeps leave the job alone for limits::kRetryPanic.
#pragma once

#include <utility>

#include "runtime/task.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class JobTasks {
 public:
  static constexpr const char* kPanic = "scheduler packet handler panic";

  JobTasks(Replica& replica, LeaseKeeper& leases) : replica_(replica), leases_(leases) {}

  // Begins work that nobody waits for.
  void spawn(JobId job, Task<void> work);

  // What the work comes to; `otherwise` if it throws.
  template <class T>
  Task<T> guard(JobId job, Task<T> work, T otherwise) {
    try {
      co_return co_await std::move(work);
    } catch (...) {
      panicked(job);
    }
    co_return otherwise;
  }

 private:
  Task<void> settle(JobId job, Task<void> work);
  // REQUIRES: an exception is being handled.
  void panicked(const JobId& job);

  Replica& replica_;
  LeaseKeeper& leases_;
};

}  // namespace fairlead::scheduler
