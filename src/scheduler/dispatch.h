// The walk of a job from its record to a worker: judged by policy, placed, committed as DISPATCHED
// with a new epoch, handed to the bus.
//
//   advance ─► gate.check ─► resolve, pick ─► apply(DISPATCHED, epoch, mark) ─► publish ─► RUNNING
//      │           │              │                     │                          │
//      │        DENIED, …     waits, FAILED         waits, tries the next     SCHEDULED again, or
//      │                                                worker             the mark stays: a sweep
//      └─ a failure at any arrow leaves a record from which the same walk resumes
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cordum/agent/v1/job.pb.h"
#include "job/constraints.h"
#include "routing/placement.h"
#include "routing/remembered_routes.h"
#include "routing/route.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/ending.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/packets.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

// A job on its walk, under its lease.
struct Walker {
  explicit Walker(Packet given = {}) : packet(std::move(given)) {}

  const cap::JobRequest& request() const { return packet->job_request(); }
  bool is_new() const { return record.revision == Revision(); }

  std::string token;
  job::Record record;
  // Holds the request until the job has a route.
  Packet packet;
  // The request as it came, and the time that it gives the worker.
  std::string request_bytes;
  int64_t deadline_ms = 0;
  std::optional<Sequence> consumed;
  // How it was claimed, if it was.
  std::optional<store::Claim> claim;
  // Of a job that waits in a class: where its schedule of attempts begins, with how many made, and
  // when the next falls due.
  WallTime wait_base;
  uint32_t attempts_at_base = 0;
  Duration next_attempt{};
  // It may be with its assignee already.
  bool same_worker = false;
  // States entered since the last commit.
  std::vector<job::State> path;
  MonotonicTime began;
};

using WalkerPtr = std::unique_ptr<Walker>;

enum class Outcome {
  kDispatched,  // committed; being handed to the bus
  kWaits,
  kEnded,
  kLost,    // the record or the lease is somebody else's now
  kFailed,  // the store could not say; nothing may be assumed
};

struct Walked {
  Outcome outcome = Outcome::kFailed;
  Error error;  // of kFailed
};

class Dispatch {
 public:
  Dispatch(Replica& replica, LeaseKeeper& leases, Commits& commits)
      : replica_(replica), leases_(leases), commits_(commits) {}

  // Takes a job as far as it can go now. The lease ends with the walk.
  Task<Walked> advance(WalkerPtr walker);

  // Tries a waiting job that was claimed for us; gives it back if there is no room for it.
  Task<void> try_claimed(store::Claim claim);
  // Tries the next job of a class, if a worker could take it.
  Task<void> wake(std::string wait_class);
  // Tries it in any case.
  Task<void> try_next(std::string wait_class);
  // Offers free slots of a worker to the jobs that wait for it.
  Task<void> offer(WorkerId worker);

  // Looks at a job whose time has come: resumes its walk, resolves a dispatch that is not known to
  // be published, or ends it when it has been out too long.
  Task<void> revisit(JobId job);

  // The dispatch of a walker's record may have been published: find out, or begin a new epoch.
  Task<Walked> resolve_unpublished(WalkerPtr walker);

 private:
  struct Placed {
    WorkerId worker;
    std::string subject;
    int32_t capacity = 0;
  };

  void begin(Walker& walker, WallTime now);
  Task<std::optional<Walked>> judge(Walker& walker);
  // Its assignee may have it already, lives, and can tell a repeat.
  bool repeats(const Walker& walker) const;
  Task<Walked> place(WalkerPtr walker, std::shared_ptr<const routing::Route> route);
  std::expected<Placed, routing::NotPlaced> pick(const Walker& walker, const routing::Route& route,
                                                 std::vector<WorkerId>& excluded, int& stale);
  store::Change dispatch_change(const Walker& walker, const Placed& placed,
                                const job::Limits& limits);
  Task<Result<store::Receipt>> commit_dispatch(const Walker& walker, const Placed& placed,
                                               const job::Limits& limits);
  Task<Result<store::Receipt>> follow_dispatch(const job::Record& record,
                                               Task<Result<store::Receipt>> committing);
  Task<void> hand_over(WalkerPtr walker, store::Snapshot record, std::string subject);
  // Of a dispatch that is committed, under its lease.
  Task<void> commit_running(std::string token, store::Snapshot record);
  Task<void> roll_back(std::string token, store::Snapshot record);
  store::Change running_change(const job::Record& record, const std::string& lease);
  store::Change rollback_change(const job::Record& record, const std::string& lease);

  // The ends of a walk. A job that has nothing to wait for any more is given up.
  Task<Walked> wait(Walker& walker, job::ReasonCode reason, std::string detail,
                    std::string wait_class);
  Task<Walked> pause(Walker& walker, job::ReasonCode reason, std::string detail, Duration delay);
  Task<Walked> end(Walker& walker, Ending ending);
  Task<Walked> give_up(Walker& walker, job::ReasonCode reason);
  Task<Walked> park_for_approval(Walker& walker);
  Task<Walked> finish(Walker& walker, store::Change change, Outcome outcome);

  void count_hints(const std::vector<routing::HintOutcome>& hints);

  Replica& replica_;
  LeaseKeeper& leases_;
  Commits& commits_;
};

// The route that a request asks for.
routing::RememberedRoutes::Answer route_of(Replica& replica, const job::Record& record,
                                           const cap::JobRequest& request);

}  // namespace fairlead::scheduler
