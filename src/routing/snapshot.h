// The workers of a replica as one document, which every replica and the gateways can read: who is
// there, in which pools, and which topics they can serve.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "routing/pool_map.h"
#include "routing/registry.h"

namespace fairlead::routing {

struct Snapshot {
  WallTime captured_at;
  std::vector<WorkerReport> workers;
};

// JSON of the workers that are alive at `now`, which is `captured_at` on the wall.
std::string snapshot_json(const WorkerRegistry& registry, const PoolMap& pools, MonotonicTime now,
                          WallTime captured_at, std::string_view writer);

// The reverse, from whoever wrote it. Workers without an id are left out; other fields that are
// missing are empty.
Result<Snapshot> parse_snapshot(std::string_view text);

}  // namespace fairlead::routing
