// A worker that does what the story says: it takes every job it is given, says so in a heartbeat
// every five seconds, and answers when told to.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bus/bus.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "cordum/agent/v1/heartbeat.pb.h"
#include "runtime/loop.h"

namespace fairlead::behaviour {

namespace cap = cordum::agent::v1;

inline constexpr Duration kHeartbeatEvery = std::chrono::seconds(5);

class StoryWorker {
 public:
  struct Got {
    cap::JobRequest request;
    std::string trace;
  };

  // The loop must outlive the worker.
  StoryWorker(Loop& loop, std::string id);
  StoryWorker(const StoryWorker&) = delete;
  StoryWorker& operator=(const StoryWorker&) = delete;
  ~StoryWorker() { loop_.cancel(next_beat_); }

  // What its heartbeats say, but for active_jobs.
  cap::Heartbeat report;
  int32_t active_elsewhere = 0;
  bool counts_jobs = true;
  bool gone = false;  // it does not come back when the scheduler does

  // Listens on the bus and begins to send heartbeats, the first at once.
  Result<void> connect(bus::Bus& bus);
  // The bus is gone, or the worker is.
  void disconnect();
  bool connected() const { return bus_ != nullptr; }
  void go_silent() { silent_ = true; }
  void speak_again() {
    silent_ = false;
    beat();
  }
  // As after a restart under the same id: it has no jobs.
  void forget_jobs() { running_.clear(); }
  void finished(const std::string& job) { running_.erase(job); }
  void beat();

  const std::string& id() const { return id_; }
  const std::vector<Got>& got() const { return got_; }
  // The last dispatch of a job to it; nullptr when there was none.
  const Got* last(const std::string& job) const;
  bool told_to_cancel(const std::string& job) const { return cancelled_.contains(job); }

 private:
  Task<bus::Verdict> take(bus::Delivery delivery);
  void keep_beating();

  Loop& loop_;
  const std::string id_;
  bus::Bus* bus_ = nullptr;
  bool silent_ = false;
  TimerId next_beat_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  std::vector<Got> got_;
  std::set<std::string> running_;
  std::set<std::string> cancelled_;
};

}  // namespace fairlead::behaviour
