// One worker as placement sees it: what it reported, and what its load comes to.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "routing/worker.h"

namespace fairlead::routing {

struct WorkerView {
  MonotonicTime last_seen;
  // Jobs handed to it and not released, and how many of these it no longer has (LoadLedger).
  int32_t held = 0;
  int32_t ghosts = 0;
  // Stands for active_jobs in `overloaded` and `score`.
  int32_t load = 0;
  bool overloaded = false;
  // A job could not be handed to it since it was last heard; it counts as overloaded.
  bool refused = false;
  double score = 0;
  // INT32_MAX when it has no limit.
  int32_t free_slots = 0;
  // Jobs that may be held by it, ghosts included, by all replicas together; 0: no limit.
  int32_t slot_limit = 0;
  WorkerReport report;
};

}  // namespace fairlead::routing
