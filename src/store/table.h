// The part that embedded stores share: what is known in memory of the live jobs. It judges a
// change, keeps indexes and slots in step with the records, and holds waiting classes and leases.
// Persistence is not its business: a store asks the table, writes, and answers when that is
// durable.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/change.h"
#include "store/hash_chains.h"
#include "store/leases.h"
#include "store/live_job.h"
#include "store/store.h"
#include "store/wait_classes.h"

namespace fairlead::store {

struct TenantJobs {
  std::string name;
  JobList<&LiveJob::in_tenant> jobs;
  uint32_t slots = 0;
};

struct WorkerJobs {
  std::string name;
  JobList<&LiveJob::in_worker> jobs;  // those that hold a slot
};

class Table {
 public:
  explicit Table(WallTime opened);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  // What is known of the job before a change: in memory for a live one, else from `ended`.
  struct Before {
    std::optional<job::State> state;
    Revision revision;
  };
  Before before(const JobId& job) const;

  // The answer to a change that cannot be made (a Conflict without its record), or nothing when it
  // can. Looks at guard, lease, path and slots; idempotency keys are the store's.
  std::optional<Receipt> refusal(const Change& change, const Before& before,
                                 MonotonicTime now) const;

  // Makes memory follow a record that was written: a live one is put, an ended one removed.
  // `now` and `wall` tell when, for the fallback time of a waiting class.
  void follow(const job::Record& record, MonotonicTime now, WallTime wall);

  // After following records in any order, at start: brings the lists into the order of change.
  void sort();

  std::vector<Claim> claim(const Claims& claims, MonotonicTime now);
  // One of each group of classes.
  std::vector<Claim> claim_each(const std::vector<std::vector<std::string>>& groups,
                                MonotonicTime now);
  void unclaim(const JobId& job, MonotonicTime next_try);

  bool contains(const JobId& job) const { return find(job.str()) != nullptr; }
  size_t size() const { return jobs_.size(); }
  size_t size(job::State state) const { return by_state_[static_cast<size_t>(state)].size(); }
  uint32_t tenant_slots(const TenantId& tenant) const;
  uint32_t worker_slots(const WorkerId& worker) const;

  // Ids of the live jobs that a query asks for, in its order, at most `limit`, beginning after
  // `cursor` (cursor.h). kEnded gives none, kRecent only the live part; kTrace gives the live part
  // from the beginning, in no order, and perhaps one of another trace: only the records know.
  std::vector<JobId> scan(const Query& query) const;

  WaitClasses& waiting() { return waiting_; }
  const WaitClasses& waiting() const { return waiting_; }
  Leases& leases() { return leases_; }
  const Leases& leases() const { return leases_; }

 private:
  template <class Node>
  using Nodes = std::unordered_map<std::string, std::unique_ptr<Node>>;

  LiveJob* find(std::string_view id) const;
  void unlink(LiveJob* job, std::optional<WallTime> dispatched);
  void link(LiveJob* job, const job::Record& record, MonotonicTime now, WallTime wall);
  void push_to_lists(LiveJob* job);
  void remove_from_lists(LiveJob* job);

  HashChains<&LiveJob::of_id, &LiveJob::id_hash> jobs_;
  JobList<&LiveJob::in_all> all_;  // least recently changed first
  std::array<JobList<&LiveJob::in_state>, job::kAllStates.size()> by_state_;
  Nodes<TenantJobs> tenants_;
  Nodes<WorkerJobs> workers_;
  HashChains<&LiveJob::of_trace, &LiveJob::trace_hash> traces_;
  std::set<LiveJob*, ByTime<&LiveJob::deadline>> by_deadline_;
  std::set<LiveJob*, ByTime<&LiveJob::due>> by_due_;
  std::set<LiveJob*, ByTime<&LiveJob::since>> unpublished_;
  WaitClasses waiting_;
  Leases leases_;
};

}  // namespace fairlead::store
