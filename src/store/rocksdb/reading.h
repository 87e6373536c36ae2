// Reads of more than one value, and retention: run on the committer's thread against the database
// as all earlier calls left it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/ended_jobs.h"
#include "store/rocksdb/puts.h"
#include "store/store.h"
#include "store/table.h"
#include "store/values.h"

namespace fairlead::store {

// In Family::kMeta: how many jobs have ended in each state, and how many of these were retired.
inline constexpr std::string_view kEndedKey = "ended";
inline constexpr std::string_view kRetiredKey = "retired";
// Zeros when there are none yet.
Result<StateCounts> read_counts(const Database& database, std::string_view key);

// The values of those keys that are there, in the keys' order.
template <class T>
Result<std::vector<T>> read_values(const Database& database, Family family,
                                   const std::vector<std::string>& keys,
                                   Result<T> (*decode)(std::string_view)) {
  std::vector<T> values;
  for (const std::string& key : keys) {
    auto bytes = database.get(family, key);
    if (!bytes) return std::unexpected(bytes.error());
    if (!*bytes) continue;
    auto value = decode(**bytes);
    if (!value) return std::unexpected(value.error());
    values.push_back(*std::move(value));
  }
  return values;
}

Result<std::optional<job::Record>> read_record(const Database& database, Family family,
                                               const JobId& job);

// The page that a query asks for; `live` are the live jobs of it, in its order, as the table knows.
Result<Page> read_page(const Database& database, const Query& query, const Table::Scanned& live);

struct Retired {
  size_t count = 0;
  std::vector<JobId> jobs;
  StateCounts in_state{};  // of the jobs
};

// Erases what has expired, at most `limit` things.
Result<Retired> retire_expired(const Database& database, Puts& puts, WallTime now,
                               Duration ended_job_ttl, size_t limit);

}  // namespace fairlead::store
