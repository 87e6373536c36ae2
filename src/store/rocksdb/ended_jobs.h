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
#include "store/rocksdb/keys.h"
#include "store/store.h"

namespace fairlead::store {

// Tells `visit` the family and key of each entry of an ended job; the value of all is its mark.
template <class Visit>
void visit_entries(const job::Record& record, Visit visit) {
  visit(Family::kEndedByTime, ended_key("", record));
  visit(Family::kEndedByQueue,
        ended_key(queue_prefix(record.tenant.str(), record.topic.str()), record));
  if (record.assignee.empty()) return;
  visit(Family::kEndedByWorker, ended_key(worker_prefix(record.assignee.str()), record));
}

// The mark of a record: its state, and hashes of its tenant, topic, team and worker.
std::string ended_mark(const job::Record& record);
// Whether the job may be one of those; its record knows.
bool may_be_taken(const Only& only, std::string_view mark);

// Jobs by state, in the form in which they are stored.
using StateCounts = std::array<int64_t, job::kAllStates.size()>;
std::string encode(const StateCounts& counts);
Result<StateCounts> decode_state_counts(std::string_view bytes);

class EndedJobs {
 public:
  explicit EndedJobs(const Database& database) : database_(database) {}

  // Those of a query of kRecent, through the index that leaves out most: the worker's, the queues'
  // while they are few, or that of all; always only the states that are asked for.
  Result<RecentPart> recent(const Query& query);
  // Latest first, behind the position.
  Result<std::vector<job::Record>> latest(const std::optional<Position>& behind, size_t limit);
  // Earliest first, only those in the state.
  Result<Page> in_state(job::State state, const std::optional<Position>& behind, size_t limit);

 private:
  using Each = std::unique_ptr<rocksdb::Iterator>;
  // The entries of one state in one place, latest first.
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
  // Where to look for them: a family, and prefixes of places in it.
  struct Places {
    Family family;
    std::vector<std::string> prefixes;
  };
  Result<Places> places_of(const Only& only);
  // None: there are too many of them.
  Result<std::optional<std::vector<std::string>>> queues_of(const Only& only);

  const Database& database_;
};

}  // namespace fairlead::store
