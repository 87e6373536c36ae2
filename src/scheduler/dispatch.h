// The walk of a job from its record to a worker: judged by policy, placed, committed as DISPATCHED
// with a new epoch, handed to the bus.
//
//   advance ─► gate.check ─► resolve, pick ─► apply(DISPATCHED, epoch, mark) ─► publish ─► RUNNING
//      │           │              │                     │                          │
//      │        DENIED, …     waits, FAILED         waits, tries the next     SCHEDULED again, or
//      │                                                worker             the mark stays: a sweep
//      └─ a failure at any arrow leaves a record from which the same walk resumes
#pragma once

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
#include "scheduler/replica.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

// A job on its walk, under its lease.
struct Walker {
  std::string token;
  job::Record record;
  cap::JobRequest request;
  // Of a job that is not stored yet.
  std::optional<std::string> request_bytes;
  std::optional<Sequence> consumed;
  // How it was claimed, if it was.
  std::optional<store::Claim> claim;
  // Of a job that waits in a class: when its next attempt falls due.
  Duration next_attempt{};
  // It may be with its assignee already.
  bool same_worker = false;
  // States entered since the last commit.
  std::vector<job::State> path;
  MonotonicTime began;
};

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
  Task<Walked> advance(Walker walker);

  // Tries a waiting job that was claimed for us; gives it back if there is no room for it.
  Task<void> try_claimed(store::Claim claim);
  // Tries the next job of a class, if a worker could take it.
  Task<void> wake(std::string wait_class);
  // Offers free slots of a worker to the jobs that wait for it.
  Task<void> offer(WorkerId worker);

  // Looks at a job whose time has come: resumes its walk, resolves a dispatch that is not known to
  // be published, or ends it when it has been out too long.
  Task<void> revisit(JobId job);

  // The dispatch of a walker's record may have been published: find out, or begin a new epoch.
  Task<Walked> resolve_unpublished(Walker walker);

 private:
  struct Placed {
    WorkerId worker;
    std::string subject;
    int32_t capacity = 0;
  };

  void begin(Walker& walker, WallTime now);
  Task<std::optional<Walked>> judge(Walker& walker);
  Task<Walked> place(Walker& walker, const routing::Route& route);
  std::expected<Placed, routing::NotPlaced> pick(Walker& walker, const routing::Route& route,
                                                 std::vector<WorkerId>& excluded, int& stale);
  Task<Result<store::Receipt>> commit_dispatch(Walker& walker, const Placed& placed,
                                               const job::Limits& limits);
  Task<void> hand_over(Walker walker, std::string subject);
  Task<void> commit_running(Walker walker);
  Task<void> roll_back(Walker walker);

  // The ends of a walk.
  Task<Walked> wait(Walker& walker, job::ReasonCode reason, std::string detail,
                    std::string wait_class);
  Task<Walked> pause(Walker& walker, job::ReasonCode reason, std::string detail, Duration delay);
  Task<Walked> end(Walker& walker, Ending ending);
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
