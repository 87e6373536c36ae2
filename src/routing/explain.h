// Why a job would be placed where it would, without placing it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "job/reason.h"
#include "routing/hint.h"
#include "routing/labels.h"
#include "routing/placement.h"
#include "routing/pool_map.h"
#include "routing/registry.h"
#include "routing/route.h"

namespace fairlead::routing {

// In the order in which an explanation lists them.
enum class WorkerVerdict {
  kChosen,
  kHigherScore,  // or later by the tie-break
  kOverloaded,
  kLabelMismatch,
  kNotReady,
  kStale,
  kMissingCapability,  // its pool serves the topic, and lacks what the job requires
  kOtherPool,
};

const char* to_string(WorkerVerdict verdict);

struct ExplainedPool {
  PoolName pool;
  PoolFit fit = PoolFit::kEligible;
  // Why not: "draining", "lacks gpu, cuda", …
  std::string why;

  bool taken() const { return fit == PoolFit::kEligible; }
};

struct ExplainedWorker {
  WorkerId worker;
  PoolName pool;
  WorkerVerdict verdict = WorkerVerdict::kOtherPool;
  // What the verdict rests on: "load 9 of 10", "node.zone is us, not eu", …
  std::string why;
  int32_t load = 0;
  double score = 0;
  // Since its last heartbeat.
  Duration age{};
};

struct Explanation {
  // Every pool of the topic, and those of them that may have the job.
  std::vector<ExplainedPool> pools;
  std::vector<PoolName> eligible;
  Labels placement;
  Topic topic;
  std::vector<HintOutcome> hints;
  // The first `workers_max` in order of verdict, rank and id; how many there are.
  std::vector<ExplainedWorker> workers;
  size_t workers_total = 0;
  // Where the job would go; otherwise why nowhere.
  std::optional<Pick> chosen;
  job::ReasonCode code = job::ReasonCode::kNone;
  std::string detail;
};

// What `resolve`, and then `pick` without the workers that are stale at `now`, would answer. Looks
// at every worker: for people who ask, not for the walk of a job.
Explanation explain(const PoolMap& map, const WorkerRegistry& registry, const RouteQuery& query,
                    MonotonicTime now, size_t workers_max = 100);

}  // namespace fairlead::routing
