// How busy this machine is, or the worker and its jobs on it: since the last time asked, but over
// no less than a second, or the start of a program would look like a machine that is full.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace fairlead::worker {

class MachineLoad {
 public:
  // 0 to 100 of all processors together.
  float cpu();
  // Of ours: this process, the programs that ended, and those that run, with all that they started.
  // A program is named by its id, which is that of its group too.
  float cpu_of_jobs(const std::vector<pid_t>& running);
  // Memory that is not available, 0 to 100.
  static float memory();

 private:
  struct Ticks {
    uint64_t all = 0;
    uint64_t busy = 0;
  };
  struct Measured {
    Ticks at;
    float percent = 0;
  };
  static float measure(Measured& last, const Ticks& now);

  Measured machine_;
  Measured jobs_;
};

}  // namespace fairlead::worker
