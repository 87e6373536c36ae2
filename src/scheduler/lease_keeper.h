// The leases that this replica holds on jobs: taken with the job's record, renewed while the work
// lasts, given up when the store says that they are no longer ours.
//
// A lease saves work; what keeps the data right is that every write names the revision and the
// token it acts under. The one act that the store cannot guard is handing a job to the bus, so a
// holder asks may_publish() right before it, and a replica that was paused for too long, or has
// shown no sign of life, refrains.
#pragma once

#include <map>
#include <string>

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
  // error is kUnavailable, as for every store error.
  Task<Result<Taken>> take(const JobId& job, bool with_request, Duration patience);

  // Ends a lease that no commit has ended.
  void release(const JobId& job, const std::string& token);
  // The commit ended it.
  void ended(const std::string& token) { held_.erase(token); }

  bool may_publish(const std::string& token) const;

  // Run for as long as the replica lives.
  Task<void> keep_renewing();
  Task<void> keep_alive();
  // The first sign of life, before anything is taken.
  Task<Result<void>> appear();

  size_t held() const { return held_.size(); }

 private:
  struct Held {
    JobId job;
    MonotonicTime confirmed;
    int failures = 0;
    bool renewing = false;
  };

  Task<void> renew(std::string token);
  void abandon(const std::string& token, std::string_view why);

  Replica& replica_;
  std::map<std::string, Held> held_;
  MonotonicTime alive_confirmed_{};
};

}  // namespace fairlead::scheduler
