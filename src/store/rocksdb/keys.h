// Keys that sort as their meaning does: numbers big-endian, times before names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "job/record.h"

namespace fairlead::store {

std::string number_key(uint64_t number);
std::optional<uint64_t> parse_number_key(std::string_view key);

// A time, then a name: what happened at one time is in order of names.
struct TimeKey {
  WallTime at;
  std::string name;
};
std::string time_key(WallTime at, std::string_view name);
std::optional<TimeKey> parse_time_key(std::string_view key);

// All keys of one trace begin with its prefix, and no others do.
std::string trace_prefix(const TraceId& trace);
std::string trace_key(const TraceId& trace, WallTime created, const JobId& job);

// All keys of one queue begin with its prefix, all of one tenant with its own; no others do.
std::string tenant_prefix(std::string_view tenant);
std::string queue_prefix(std::string_view tenant, std::string_view topic);
// The prefixes that a key of a queue begins with; none when it makes no sense.
struct QueuePrefixes {
  std::string_view tenant;
  std::string_view queue;
};
std::optional<QueuePrefixes> parse_queue_prefixes(std::string_view key);
std::string worker_prefix(std::string_view worker);

// Ended jobs stand by state, then by end time: all of them ("" for the place), those of a queue and
// those of a worker (its prefix).
std::string ended_prefix(std::string_view place, job::State state);
std::string ended_key(std::string_view place, const job::Record& record);

// Behind every key with that prefix, and before all others that come later.
std::string behind_prefix(std::string_view prefix);

std::string idempotency_key(const TenantId& tenant, std::string_view key);

}  // namespace fairlead::store
