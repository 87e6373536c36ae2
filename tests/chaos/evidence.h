// What was seen from outside in one round, for the checker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::chaos {

using Micros = int64_t;  // since 1970

Micros now_micros();

// A submit that was acknowledged: by the API, or by the stream that keeps it.
struct Submit {
  std::string job;
  std::string key;  // the client's own; empty over the bus, where the job's id is one
  Micros sent = 0;  // the first time
  Micros acknowledged = 0;
};

struct Delivery {
  std::string job;
  uint64_t epoch = 0;
  std::string worker;
  Micros at = 0;
};

// A worker's answer that a stream said to have stored.
struct StoredResult {
  std::string job;
  uint64_t epoch = 0;
  Micros at = 0;
};

struct FaultSpan {
  std::string what;
  Micros from = 0;
  Micros to = 0;  // when it was over, and the process took connections again
  // Workers may not have listened: what is published to one that does not, it never gets.
  bool deafens_workers = false;
};

struct FinalRecord {
  std::string state;  // empty: there is none
  Micros updated = 0;
  std::vector<Micros> dispatched{};  // by its history
};

struct Evidence {
  std::vector<Submit> submits;
  std::vector<Delivery> deliveries;
  std::vector<StoredResult> results;
  // The dispatches that the stream has; nothing where there is none.
  std::optional<std::set<std::pair<std::string, uint64_t>>> published;
  std::vector<FaultSpan> faults;
  std::map<std::string, FinalRecord> records;  // of every job that was acknowledged
  std::vector<std::string> leftovers;          // what should be empty at rest and is not
  Micros judged = 0;                           // when the records were read
};

}  // namespace fairlead::chaos
