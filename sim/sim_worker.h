// A simulated worker: it takes jobs, works, answers; it dies, comes back under its old name, lags,
// repeats itself and lies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "sim/network.h"
#include "sim/sim_bus.h"

namespace fairlead::sim {

class SimWorker {
 public:
  struct Kind {
    WorkerId id;
    PoolName pool;
    int capacity = 2;
    std::map<std::string, std::string> labels;
  };

  SimWorker(WorldPlugs& world, SimBus& bus, Kind kind);

  void start();
  // Loses what it was doing.
  void die();
  // While it lags, what it would say waits, and it is not heard.
  void lag(bool on);
  void overload(bool on) { cpu_load_ = on ? 95 : 5; }
  bool alive() const { return alive_; }
  // It lives and is heard, for long enough that everybody who listens knows.
  bool surely_lives() const;
  // It may have been taken for dead.
  bool died_ever() const { return died_ever_; }
  bool overloaded() const { return cpu_load_ > 90; }
  const Kind& kind() const { return kind_; }
  // What it works on: job to epoch.
  const std::map<std::string, uint64_t>& running() const { return running_; }
  bool has_seen(const JobId& job, Epoch epoch) const {
    auto seen = seen_.find(job.str());
    return seen != seen_.end() && seen->second >= epoch.value();
  }

 private:
  void beat();
  void take(const std::string& packet);
  void tell_progress(const cordum::agent::v1::JobRequest& request);
  void answer(cordum::agent::v1::JobRequest request);
  void lie(const cordum::agent::v1::JobRequest& request);
  // `trace` tells the observer whether it is true.
  void send(const cordum::agent::v1::JobResult& result, const std::string& trace);
  void publish(std::string_view subject, std::string packet);
  // Runs `work` later, unless it died meanwhile.
  void later(Duration delay, std::function<void()> work);

  WorldPlugs& world_;
  SimBus& bus_;
  Kind kind_;
  bool alive_ = false;
  bool died_ever_ = false;
  bool lags_ = false;
  std::vector<std::pair<std::string, std::string>> unsaid_;  // subjects and packets
  uint64_t life_ = 0;
  MonotonicTime heard_since_{};
  double cpu_load_ = 5;
  std::map<std::string, uint64_t> running_;
  std::map<std::string, uint64_t> seen_;  // highest epoch of each job: repeats are dropped
};

}  // namespace fairlead::sim
