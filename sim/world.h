// The simulated world: replicas of the real scheduler, a shared store, a bus, workers and a client,
// all in one thread and in virtual time, driven by one seed.
//
// A run has two halves. First faults strike; then everything heals, and every job must come to an
// end. An observer and the checks below watch all along.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/simulated_loop.h"
#include "scheduler/scheduler.h"
#include "sim/faulty_store.h"
#include "sim/network.h"
#include "sim/sim_bus.h"
#include "sim/sim_gate.h"
#include "sim/sim_store.h"
#include "sim/sim_worker.h"

namespace fairlead::sim {

// Once it has healed, nobody waits for what is there after this: leases and claims that faults left
// behind are given back or taken over by then.
inline constexpr Duration kQuietAfter = std::chrono::seconds(15);
inline constexpr Duration kFarClockStepMax = std::chrono::minutes(40);

struct Report {
  std::optional<std::string> violation;
  Counts faults;
  Counts transitions;
  uint64_t steps = 0;
  Duration virtual_time{};
};

class World {
 public:
  // With `trace`, everything that happens is said there, a line each.
  World(uint64_t seed, std::function<void(std::string)> trace);
  ~World();

  Report run();

 private:
  struct Replica;

  void set_up();
  void submit_jobs();
  void submit(const JobId& job);
  void cancel(const JobId& job);
  void schedule_faults();
  void repeat(int a_minute, const std::function<void()>& fault);
  void crash(int index);
  void boot(int index);
  void pause(int index);
  void go_down();
  void lose_bus(Duration time);
  void fail_over();
  void lose_end_of_stream();
  void step_clock(Process& process);
  void change_policy();
  void heal();
  // A person looks through what waits for approval, and decides.
  void decide_approvals();
  void approve(const job::Record& record);
  // Whether a job that was acknowledged may be in no record.
  bool may_be_missing(const JobId& job);
  // The live records that a query asks for.
  std::vector<store::Snapshot> records(const store::Query& query);
  void check_always();
  bool waits_for_its_worker(const job::Record& record) const;
  bool is_ours_to_count(const SimWorker& worker, const JobId& job, Epoch epoch);
  void check_liveness();
  void check_wake_ups();
  void say_loads();
  bool everything_ended();
  cordum::agent::v1::JobRequest make_request(const JobId& job);
  void say(std::string text);

  SimulatedLoop loop_;
  SeededRandom random_;
  Options options_;
  Observer observer_;
  bool healed_ = false;
  MonotonicTime end_of_faults_{};
  MonotonicTime down_until_{};
  MonotonicTime quiet_at_{};
  std::optional<MonotonicTime> rewound_;  // the store, last
  std::function<void(std::string)> trace_;
  WorldPlugs plugs_;

  Process store_process_;
  SimStore store_;
  SimBus bus_;
  gate::TopicGate policy_;
  std::shared_ptr<const routing::PoolMap> pools_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::map<JobId, std::string> jobs_;  // to their packets
  // Of those that have one: tenant and idempotency key.
  std::map<JobId, std::pair<TenantId, std::string>> keys_;
  std::map<std::pair<JobId, Epoch>, MonotonicTime> handed_out_at_;
  std::map<std::string, MonotonicTime> room_since_;
  // When an unpublished dispatch was last seen to wait for its worker.
  std::map<JobId, MonotonicTime> blocked_at_;
};

}  // namespace fairlead::sim
