// The snapshot of the workers in the store: written by one replica at a time, read by gateways and
// by a replica that starts, so that it does not begin with an empty registry (REG-5, REG-6).
#pragma once

#include <vector>

#include "runtime/task.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class SnapshotKeeper {
 public:
  explicit SnapshotKeeper(Replica& replica) : replica_(replica) {}

  // Takes in the workers of the last snapshot, each as old as it is, and names those that are
  // alive by that. Whatever is wrong with it only means that workers are known by their first
  // heartbeat.
  Task<std::vector<WorkerId>> warm_start();

  // Runs for as long as the replica lives.
  Task<void> keep_writing();

 private:
  Task<void> write();

  Replica& replica_;
};

}  // namespace fairlead::scheduler
