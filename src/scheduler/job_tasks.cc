#include "scheduler/job_tasks.h"

#include <exception>
#include <string>

namespace fairlead::scheduler {

namespace {

std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "no exception of the standard library";
  }
}

}  // namespace

void JobTasks::spawn(JobId job, Task<void> work) {
  replica_.nursery.spawn(settle(std::move(job), std::move(work)));
}

Task<void> JobTasks::settle(JobId job, Task<void> work) {
  try {
    co_await std::move(work);
  } catch (...) {
    panicked(job);
  }
}

void JobTasks::panicked(const JobId& job) {
  replica_.log.error(kPanic, {{"job_id", job.str()}, {"error", what_was_thrown()}});
  if (job.empty()) return;
  leases_.release_any(job);
  replica_.left_alone[job] = replica_.clock.monotonic() + limits::kRetryPanic;
}

}  // namespace fairlead::scheduler
