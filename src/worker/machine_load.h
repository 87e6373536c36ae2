// How busy this machine is, or the worker and its jobs on it, since the last time asked.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace fairlead::worker {

class MachineLoad {
 public:
  // 0 to 100 of all processors together.
  float cpu();
  // Of ours: this process, the programs that ended, and those that run, by their ids.
  float cpu_of_jobs(const std::vector<pid_t>& running);
  // Memory that is not available, 0 to 100.
  static float memory();

 private:
  struct Ticks {
    uint64_t all = 0;
    uint64_t busy = 0;
  };
  static float percent(const Ticks& before, const Ticks& now);

  Ticks machine_;
  Ticks jobs_;
};

}  // namespace fairlead::worker
