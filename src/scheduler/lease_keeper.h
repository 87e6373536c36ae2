// The leases that this replica holds on jobs: taken with the job's record, renewed while the work
// lasts, given up when the store says that they are no longer ours.
//
// A lease saves work; what keeps the data right is that every write names the revision and the
// token it acts under. The one act that the store cannot guard is handing a job to the bus, so a
// holder asks may_publish() right before it, and a replica that was paused for too long, or has
// shown no sign of life, refrains.
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/task.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class LeaseKeeper {
 public:
  explicit LeaseKeeper(Replica& replica) : replica_(replica) {}

  struct Taken {
    std::string token;
    store::Loaded loaded;
  };

  // Takes the job's lease and loads it. A held lease is waited for up to `patience`; then the
  // error is kUnavailable and is_busy(). Any other error is the store's.
  // `mark` names the bus message that is being handled, if it is one
  // (bus::Delivery::in_flight_mark).
  Task<Result<Taken>> take(const JobId& job, bool with_request, Duration patience,
                           std::string mark = {});
  static bool is_busy(const Error& error) { return error.message == kBusy; }

  // Ends a lease that no commit has ended.
  void release(const JobId& job, const std::string& token);
  // The same for a job whose walk came to an end that nobody foresaw.
  void release_any(const JobId& job);
  // The commit ended it.
  void ended(const std::string& token) { forget(token); }

  bool may_publish(const std::string& token) const;

  // Run for as long as the replica lives.
  Task<void> keep_renewing();
  Task<void> keep_alive();
  // The first sign of life, before anything is taken.
  Task<Result<void>> appear();

  size_t held() const { return by_token_.size(); }
  // Leases that the store may have given us without our knowing, or may not have taken back.
  size_t doubtful() const { return doubtful_.size(); }

 private:
  static constexpr std::string_view kBusy = "job lock busy";

  struct Held {
    std::string token;
    JobId job;
    MonotonicTime confirmed;
    int failures = 0;
    bool renewing = false;
  };
  using HeldList = std::list<Held>;

  // A lease of which it is not known whether we have it: over at the latest by `until`.
  struct Doubtful {
    std::string token;
    MonotonicTime until;
  };

  // The token for the next try: of a doubtful lease its own, which the store knows.
  std::string token_for(const JobId& job);
  void doubt(const JobId& job, std::string token, MonotonicTime until);
  void release_doubtful();
  Task<void> follow_release(JobId job, Doubtful lease, store::Answer<void> released);
  Task<void> renew(std::string token);
  Held* find(std::string_view token);
  bool forget(std::string_view token);
  void abandon(const std::string& token, std::string_view why);

  Replica& replica_;
  HeldList fresh_;     // longest confirmed first
  HeldList renewing_;  // asked of the store
  std::unordered_map<std::string_view, HeldList::iterator> by_token_;
  // Of one job there may be several: the next is asked for while the last is being given back.
  std::multimap<JobId, Doubtful> doubtful_;
  MonotonicTime alive_confirmed_{};
};

}  // namespace fairlead::scheduler
