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
#include "store/cursor.h"
#include "store/hash_chains.h"
#include "store/leases.h"
#include "store/live_job.h"
#include "store/store.h"
#include "store/wait_classes.h"

namespace fairlead::store {

struct TenantJobs;

// The live jobs of one tenant and topic.
struct QueueJobs {
  TenantJobs* tenant = nullptr;
  std::string topic;
  JobList<&LiveJob::in_queue> jobs;
  std::array<size_t, job::kAllStates.size()> in_state{};
};

struct TenantJobs {
  std::string name;
  JobList<&LiveJob::in_tenant> jobs;
  uint32_t slots = 0;
  std::unordered_map<std::string, std::unique_ptr<QueueJobs>> queues;  // by topic
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

  // Makes memory follow a record that was committed: a live one is put, an ended one removed.
  void follow(const job::Record& record, MonotonicTime now);

  // Of a live record that an earlier life committed; `wall` is the time now.
  void restore(const job::Record& record, MonotonicTime now, WallTime wall);
  // After restoring records in any order: brings the lists into the order of change.
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
  // `cursor` (cursor.h). kEnded gives none, kRecent only the live part, and perhaps one of another
  // team; kTrace gives the live part from the beginning, in no order, and perhaps one of another
  // trace: only the records know.
  struct Scanned {
    std::vector<JobId> jobs;
    size_t visited = 0;
    // Of kRecent: where it stopped, with enough found or many looked at.
    std::optional<Position> stopped;
  };
  Scanned scan(const Query& query, MonotonicTime now) const;

  // By topic and tenant.
  std::vector<Queue> queues() const;

  WaitClasses& waiting() { return waiting_; }
  const WaitClasses& waiting() const { return waiting_; }
  Leases& leases() { return leases_; }
  const Leases& leases() const { return leases_; }

 private:
  template <class Node>
  using Nodes = std::unordered_map<std::string, std::unique_ptr<Node>>;

  LiveJob* find(std::string_view id) const;
  Scanned recent(const Query& query, const std::optional<Position>& behind, LiveJob* last) const;
  void enter_queue(LiveJob* job, const job::Record& record);
  void leave_queue(LiveJob* job);
  LiveJob* make(const job::Record& record);
  void unlink(LiveJob* job, std::optional<WallTime> dispatched);
  // The time now; `wall` by the clock that the record's times are of.
  struct Now {
    MonotonicTime now;
    WallTime wall;
  };
  enum class Line { kByPlace, kBehindAll };
  void link(LiveJob* job, const job::Record& record, Now at, Line line);
  void push_to_lists(LiveJob* job);
  void remove_from_lists(LiveJob* job);

  HashChains<&LiveJob::next_of_id, &LiveJob::id_hash> jobs_;
  JobList<&LiveJob::in_all> all_;  // least recently changed first
  std::array<JobList<&LiveJob::in_state>, job::kAllStates.size()> by_state_;
  Nodes<TenantJobs> tenants_;
  Nodes<WorkerJobs> workers_;
  HashChains<&LiveJob::of_trace, &LiveJob::trace_hash> traces_;
  std::set<LiveJob*, ByTime<&LiveJob::deadline_at>> by_deadline_;
  std::set<LiveJob*, ByTime<&LiveJob::due_at>> by_due_;
  std::set<LiveJob*, ByTime<&LiveJob::marked_at>> unpublished_;
  WaitClasses waiting_;
  Leases leases_;
};

}  // namespace fairlead::store
