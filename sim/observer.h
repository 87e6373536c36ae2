// What a run is watched by: it sees every commit, every hand-out and every step of the world, and
// stops the run at the first thing that must not be. It also counts what happened, so that a
// campaign can tell whether every fault and every transition was ever seen.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "job/record.h"
#include "store/change.h"

namespace fairlead::sim {

// The result pointer of a result that names an epoch which is not the worker's: this, and the
// epoch.
inline constexpr std::string_view kOldEpochLie = "lie:";
// Of one that names a worker which does not have the job.
inline constexpr std::string_view kWrongWorkerLie = "wrong worker";
// The trace of a result that is true: this, and the epoch that it ends.
inline constexpr std::string_view kTruth = "truth:";

using Counts = std::map<std::string, uint64_t>;

class Observer {
 public:
  void count_fault(const std::string& kind) { ++faults_[kind]; }

  // A change was applied: `before` is the record it changed, if there was one.
  void committed(const store::Snapshot& before, const store::Change& change);
  // A replica hands an epoch to the bus, whatever becomes of it; `stored` is the record now.
  void handed_out(const JobId& job, Epoch epoch, const WorkerId& worker,
                  const store::Snapshot& stored);
  // The result of a worker was acknowledged; `stored` is the record now. What is true must count.
  void answered(const std::string& packet, const store::Snapshot& stored);
  // A client sends a job.
  void submitted(const JobId& job) { submitted_.insert(job); }
  // Tells whether a worker lives, and every replica must know it.
  std::function<bool(const WorkerId&)> surely_lives;
  // Tells the time by the store's clock, if nobody set it lately.
  std::function<std::optional<WallTime>()> store_time;
  // The client's submit of a job was acknowledged.
  void acknowledged(const JobId& job) { acknowledged_.insert(job); }
  // Policy lets each job of this topic be handed out so often, repeats to its worker not counted.
  void limited_topic(const Topic& topic, uint32_t deliveries) { limited_[topic] = deliveries; }
  // Policy lets jobs of this topic out only when a person allowed it.
  void approval_topic(const Topic& topic) { needs_approval_.insert(topic); }
  void approved(const JobId& job) { approved_.insert(job); }
  // Policy never lets jobs of this topic out, because of `why`.
  void withheld_topic(const Topic& topic, std::string why) { withheld_[topic] = std::move(why); }
  // The bus took a message about a dead letter.
  void dead_letter_told(const JobId& job) { dead_letters_told_.insert(job); }
  // The store lost what was committed last, and of these jobs all it had.
  void store_rewound(const std::set<JobId>& lost);
  bool store_was_rewound() const { return rewound_ > 0; }
  // A submit of the job was lost after it was acknowledged: the job may never come to be.
  void submit_lost(const JobId& job) { lost_.insert(job); }
  bool may_be_lost(const JobId& job) const { return lost_.contains(job); }
  // A job has ended for good; `letter` is the dead letter that is kept of it.
  void ended(const job::Record& record, const std::optional<store::DeadLetter>& letter);

  void violation(std::string what);
  const std::optional<std::string>& violated() const { return violation_; }

  const std::set<JobId>& acknowledged() const { return acknowledged_; }
  const Counts& faults() const { return faults_; }
  const Counts& transitions() const { return transitions_; }

 private:
  void check_key(const job::Record& admitted);
  void check_slot(const job::Record& before, const job::Record& next);
  void check_lies(const job::Record& before, const job::Record& next);

  std::optional<std::string> violation_;
  std::set<JobId> submitted_;
  std::set<JobId> acknowledged_;
  std::map<Topic, std::string> withheld_;
  std::map<Topic, uint32_t> limited_;
  std::set<Topic> needs_approval_;
  std::set<JobId> approved_;
  // Idempotency keys of tenants, and the jobs that were admitted with them.
  std::map<std::pair<TenantId, std::string>, JobId> keys_;
  std::set<JobId> dead_letters_told_;
  std::map<JobId, std::set<Epoch>> handed_out_;
  uint64_t rewound_ = 0;  // times
  std::set<JobId> lost_;
  // How often the store had been rewound when it committed an epoch.
  std::map<std::pair<JobId, Epoch>, uint64_t> committed_;
  Counts faults_;
  Counts transitions_;
};

}  // namespace fairlead::sim
