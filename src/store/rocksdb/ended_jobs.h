// The ended jobs through their indexes. Every entry carries a mark of its job, so that what is not
// asked for is passed over without reading its record.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/recent.h"
#include "store/rocksdb/database.h"
#include "store/store.h"

namespace fairlead::store {

// The mark of a record: its state, and hashes of its tenant, topic, team and worker.
std::string ended_mark(const job::Record& record);
// Whether the job may be one of those; its record knows.
bool may_be_taken(const Only& only, std::string_view mark);
// The state in a mark; none when it makes no sense.
std::optional<job::State> state_in(std::string_view mark);

// Jobs by state, in the form in which they are stored.
using StateCounts = std::array<int64_t, job::kAllStates.size()>;
std::string encode(const StateCounts& counts);
Result<StateCounts> decode_state_counts(std::string_view bytes);

class EndedJobs {
 public:
  explicit EndedJobs(const Database& database) : database_(database) {}

  // Those of a query of kRecent: through the queues that it names, while they are few.
  Result<RecentPart> recent(const Query& query);
  // Latest first, behind the position.
  Result<std::vector<job::Record>> latest(const std::optional<Position>& behind, size_t limit);
  // Earliest first, only those in the state.
  Result<Page> in_state(job::State state, const std::optional<Position>& behind, size_t limit);

 private:
  using Each = std::unique_ptr<rocksdb::Iterator>;
  // The entries of one queue, or of all jobs for the prefix "", latest first.
  struct Walk {
    std::string prefix;
    Each each;
    WallTime at;
    std::string job;

    void seek_behind(const std::optional<Position>& behind);
    // False when it is over.
    Result<bool> read();
  };

  Result<RecentPart> merge(std::vector<Walk> walks, const Query& query);
  // None: there are too many of them.
  Result<std::optional<std::vector<std::string>>> queues_of(const Only& only);

  const Database& database_;
};

}  // namespace fairlead::store
