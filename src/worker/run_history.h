// Which jobs this worker runs and has run, so that no epoch is run twice.
//
// A server that died may hand a job to the same worker again, under a new epoch: it cannot know
// whether the earlier one arrived. The worker knows. A job that still runs is not started a second
// time, and its result will name the newest epoch; one that has ended is answered with the result
// that it had. Only a job that asked to be tried again, or was stopped, is run again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "cordum/agent/v1/job.pb.h"

namespace fairlead::worker {

namespace cap = cordum::agent::v1;

class RunHistory {
 public:
  explicit RunHistory(size_t remembered_max) : remembered_max_(remembered_max) {}

  enum class Verdict {
    kRun,     // it is new: run it
    kIgnore,  // it is in hand, or this epoch was seen: nothing to do
    kReplay,  // it has ended: answer with result(job), which names the new epoch now
  };

  // A job was handed to us.
  Verdict arrives(const cap::JobRequest& request);
  // It ended. Results of jobs in hand name the newest epoch that arrived.
  const cap::JobResult& ended(cap::JobResult result);

  // REQUIRES: the job has ended and is remembered.
  const cap::JobResult& result(const std::string& job) const { return seen_.at(job).result; }
  // The newest dispatch of a job in hand.
  const cap::DispatchIdentity& dispatch(const std::string& job) const {
    return seen_.at(job).dispatch;
  }
  size_t size() const { return seen_.size(); }

 private:
  struct Seen {
    cap::DispatchIdentity dispatch;
    bool in_hand = true;
    uint64_t end_number = 0;
    cap::JobResult result;
  };

  void forget_oldest();

  size_t remembered_max_;
  uint64_t ends_ = 0;
  std::unordered_map<std::string, Seen> seen_;
  std::deque<std::pair<std::string, uint64_t>> ended_;  // oldest first
};

}  // namespace fairlead::worker
