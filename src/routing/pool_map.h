// Which pools serve a topic, and what a pool offers: `pools.yaml` in memory (RT-1, CFG-3).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace fairlead::routing {

// Only active pools are given jobs (RT-14).
enum class PoolStatus { kActive, kDraining, kInactive };

const char* to_string(PoolStatus status);

struct Pool {
  PoolName name;
  // What it offers, `requires` in the file: trimmed, lower-cased, sorted, each once.
  std::vector<std::string> capabilities;
  PoolStatus status = PoolStatus::kActive;
  std::string description;

  bool operator==(const Pool&) const = default;
};

// Immutable; a copy shares nothing. To change the routing, parse a new one and swap it in.
class PoolMap {
 public:
  // The pools of a topic in the order of the file, each once; nullptr for an unknown topic.
  const std::vector<PoolName>* pools_of(const Topic& topic) const;
  // nullptr for an unknown pool. Every pool that a topic names is known.
  const Pool* find(const PoolName& pool) const;

  // By name.
  std::vector<Topic> topics() const;
  std::vector<Pool> pools() const;

 private:
  friend Result<PoolMap> parse_pool_map(std::string_view yaml);

  std::map<Topic, std::vector<PoolName>> topics_;
  std::map<PoolName, Pool> pools_;
};

// The topics whose jobs may go to other pools than before, by name.
std::vector<Topic> changed_topics(const PoolMap& before, const PoolMap& after);

// Reads the text of a `pools.yaml`:
//
//   topics: {<topic>: <pool> | [<pool>, ...]}      at least one
//   pools:  {<pool>: {requires, status, description, drain_started_at, drain_timeout_seconds}}
//
// An entry under `pools` may be empty. Anything else, an unknown key, a name given twice, or a
// topic whose pool is not under `pools` is kInvalid; the error says the line and what would be
// right. The text may come from anywhere: its size and what it unfolds to are bounded.
Result<PoolMap> parse_pool_map(std::string_view yaml);

}  // namespace fairlead::routing
