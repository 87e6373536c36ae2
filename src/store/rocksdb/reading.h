// Reads of more than one value, and retention: run on the committer's thread against the database
// as all earlier calls left it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/puts.h"
#include "store/rocksdb/values.h"
#include "store/store.h"

namespace fairlead::store {

// The value of an entry in kEndedByTime.
std::string ended_value(job::State state);

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
Result<Page> read_page(const Database& database, const Query& query,
                       const std::vector<JobId>& live);

struct Retired {
  size_t count = 0;
  std::vector<JobId> jobs;
};

// Erases what has expired, at most `limit` things.
Result<Retired> retire_expired(const Database& database, Puts& puts, WallTime now,
                               Duration ended_job_ttl, size_t limit);

}  // namespace fairlead::store
