// Work on jobs, so that what it throws about one of them ends nothing else (IN-3): that is logged,
// the job's lease ends, and sweeps leave the job alone for limits::kRetryPanic.
#pragma once

#include <cstddef>
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
    ++guarded_;
    try {
      otherwise = co_await std::move(work);
    } catch (...) {
      panicked(job);
    }
    --guarded_;
    co_return otherwise;
  }
  // Work under guard() that is under way.
  size_t guarded() const { return guarded_; }

 private:
  Task<void> settle(JobId job, Task<void> work);
  // REQUIRES: an exception is being handled.
  void panicked(const JobId& job);

  Replica& replica_;
  LeaseKeeper& leases_;
  size_t guarded_ = 0;
};

}  // namespace fairlead::scheduler
