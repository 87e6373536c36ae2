// What a worker says of itself in a heartbeat, and the two formulas of the seeds over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "routing/labels.h"

namespace fairlead::routing {

// REG-4. Loads are percentages.
struct WorkerReport {
  WorkerId id;
  PoolName pool;
  int32_t active_jobs = 0;
  // 0: it takes as many as it is given.
  int32_t max_parallel_jobs = 0;
  double cpu_load = 0;
  double gpu_utilization = 0;
  double memory_load = 0;
  Labels labels;
  std::vector<std::string> capabilities;
  std::string region;
  std::string type;
  // The topics it takes jobs of, sorted; empty: of all. Not said in a heartbeat, but when the
  // worker introduces itself (RT-13).
  std::vector<std::string> ready_topics;
};

// RT-13. Of a worker that named its topics, whether this is one; others take all.
bool is_ready_for(const WorkerReport& report, const Topic& topic);
// Sorts them, each once. kInvalid when there are more than a worker may name.
Result<std::vector<std::string>> validated_topics(std::vector<std::string> topics);

// Whether the id can be the middle token of `worker.<id>.jobs`: no dots, wildcards, white space or
// control bytes, and not too long (H-24).
Result<void> validate(const WorkerId& id);
// The id, and the bounds on what a report may carry. kInvalid, with what would be right.
Result<void> validate(const WorkerReport& report);

// Brings every number into its range: counts not below 0, loads in 0..100. What is no number counts
// as 0. That changes no decision: 100 is overloaded as anything above it is.
void sanitise(WorkerReport& report);

// RT-7. `load` is the number of jobs that the worker has.
bool overloaded(int32_t load, int32_t max_parallel_jobs, double cpu_load, double gpu_utilization);
// RT-9: the lowest is picked.
double score(int32_t load, double cpu_load, double gpu_utilization);

}  // namespace fairlead::routing
