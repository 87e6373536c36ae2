// The workers of this replica with their loads, and the index that placement picks from
// (REG-1..REG-4). One thread.
//
// Heartbeats say what a worker has; `hold` and `release` say what was handed to it since, so that
// jobs between two heartbeats do not herd onto the worker that looked idlest (H-23).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/limits.h"
#include "base/time.h"
#include "routing/candidate_view.h"
#include "routing/directory.h"
#include "routing/id_order.h"
#include "routing/labels.h"
#include "routing/load_ledger.h"
#include "routing/route.h"
#include "routing/worker.h"
#include "routing/worker_index.h"
#include "routing/worker_view.h"

namespace fairlead::routing {

enum class HeartbeatEffect {
  kRefused,
  kRefreshed,
  // It could not take work before (unknown, expired, overloaded, other pool or labels) and can
  // now: waiting jobs should be offered to it.
  kOpened,
};

struct Heard {
  HeartbeatEffect effect = HeartbeatEffect::kRefused;
  // Why it was refused, and what would be right.
  std::string problem;
};

class WorkerRegistry {
 public:
  struct Candidates {
    // The best that is not overloaded; nullptr when there is none. Valid until the next change.
    const WorkerReport* best = nullptr;
    // All in the pools with the labels that take the topic, overloaded ones too.
    size_t matching = 0;
  };

  explicit WorkerRegistry(Duration ttl = limits::kWorkerTtl) : ttl_(ttl) {}
  WorkerRegistry(const WorkerRegistry&) = delete;
  WorkerRegistry& operator=(const WorkerRegistry&) = delete;

  // Takes in what a worker said at `now`. Refused: an invalid report, one older than what is known
  // of the worker, a new worker when there are kWorkersMax. Warm start passes the time at which a
  // snapshot was taken, so that it neither outlives its age nor overrides a live heartbeat.
  // Topics are not said in a heartbeat: those of the report are not looked at.
  Heard heartbeat(const WorkerReport& report, MonotonicTime now);
  // The worker introduced itself: from now on it takes jobs of these topics only, or of all when
  // there are none, until it is forgotten (RT-13). One that was not heard yet is remembered for its
  // first heartbeat.
  Heard introduce(const WorkerId& worker, std::vector<std::string> topics);
  // Whether any worker takes jobs of some topics only.
  bool topics_matter() const { return index_.confined() > 0; }

  // The job is handed, or being handed, to the worker, which need not be known (yet, or any more).
  // A job held elsewhere moves; one held there already stays as it is.
  void hold(const JobId& job, const WorkerId& worker);
  // The job runs nowhere any more. Nothing when it was not held.
  void release(const JobId& job);
  // The same for a job that may have been handed over by another replica.
  void ended(const JobId& job, const WorkerId& worker);

  // A job could not be handed to the worker: it is not picked until it is heard again.
  void refused(const WorkerId& worker);
  // One of those nevertheless, not excluded, when there is no other in the pools with the labels;
  // nullptr when there is. Valid until the next change.
  const WorkerReport* last_resort(const Route& route, std::span<const WorkerId> excluded) const;

  // The worker listens for no more jobs: it is as if it had never been heard, but for what it
  // holds. It comes back with its next heartbeat.
  void left(const WorkerId& worker);

  // Known and heard within the TTL, inclusive.
  bool alive(const WorkerId& worker, MonotonicTime now) const;
  // The same of a worker that may have left since: what it has may yet end well.
  bool heard_lately(const WorkerId& worker, MonotonicTime now) const;
  // Forgets the workers that are alive no longer, and names them, sorted. What they held stays
  // held, and counts again when they come back. Touches each worker about once in a TTL.
  std::vector<WorkerId> sweep(MonotonicTime now);

  // nullptr when unknown. Valid until the next change.
  const WorkerView* find(const WorkerId& worker) const;
  // By id.
  std::vector<WorkerView> workers() const;
  void visit(const std::function<void(const WorkerView&)>& visitor) const;
  size_t size() const { return present_; }
  // Those that are alive, by pool; a worker without one counts as "(none)" (REG-2).
  std::map<std::string, size_t> count_by_pool(MonotonicTime now) const;
  // Sorted; also of a worker that is not known.
  std::vector<JobId> held_jobs(const WorkerId& worker) const;

  // What `pick` (placement.h) chooses from.
  Candidates candidates(const Route& route, std::span<const WorkerId> excluded) const;

 private:
  struct HeldJob;
  // What changes with every job, and what that depends on, is in front: three cache lines.
  struct alignas(64) Worker : Candidate {
    WorkerId& key() { return view.report.id; }

    // The job it was given last; the others follow.
    HeldJob* jobs = nullptr;
    LoadLedger ledger;
    // As in the report.
    double cpu_load = 0;
    double gpu_utilization = 0;
    int32_t max_parallel_jobs = 0;
    // False when it is remembered only for the jobs it holds.
    bool present = false;
    // A job could not be handed to it since it was last heard.
    bool refused = false;
    // There is an expiry for it: also when it has left.
    bool expires = false;
    // All but the report and the time is brought up to date when it is shown.
    mutable WorkerView view;
    // Of one that is `refused`: as a last resort. Ranked by its id alone, open unless overloaded.
    std::unique_ptr<Candidate> resort;
  };
  struct alignas(64) HeldJob {
    JobId& key() { return id; }

    JobId id;
    Worker* worker = nullptr;
    LoadLedger::Beat since = 0;
    HeldJob* next = nullptr;
    HeldJob* previous = nullptr;
  };
  using Expiry = std::pair<MonotonicTime, Worker*>;

  Worker* find_known(const WorkerId& worker) const;
  const Worker* find_present(const WorkerId& worker) const;
  const WorkerView& show(const Worker& worker) const;
  std::vector<const Candidate*> absent_of(std::span<const WorkerId> excluded,
                                          Candidate* (*as)(Worker&)) const;
  // It is heard again, or gone. REQUIRES: its report is as it was when it refused.
  void forgive(Worker& worker);
  void enter(Worker& worker);
  void leave(Worker& worker);
  void attach(HeldJob& job, Worker& worker);
  void detach(HeldJob& job);
  void forget_if_unused(Worker& worker);
  uint64_t ordinal_of(const WorkerId& worker);
  void refresh(Worker& worker);

  Duration ttl_;
  size_t present_ = 0;
  Directory<Worker> workers_;
  // The one asked for last: who picks a worker asks for it again at once.
  mutable Worker* recent_ = nullptr;
  Directory<HeldJob> jobs_;
  // Of the present ones.
  IdOrder ids_;
  // Topics of those that were introduced and not heard yet.
  std::map<WorkerId, std::vector<std::string>> introduced_;
  // Mutable: views and rankings are made when they are first asked for.
  mutable WorkerIndex index_;
  // Of those that are `refused`, which may be many when the bus does not reach them.
  mutable WorkerIndex resorts_;
  size_t refused_ = 0;
  // One for each worker that `expires`, not later than that.
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_;
};

}  // namespace fairlead::routing
