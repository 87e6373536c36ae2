// Replicas of `fairlead serve` on a nats-server with JetStream on file and a redis-server with its
// append-only file, all on this machine: how many jobs live their whole lives a second, how long
// they take, and what they cost.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/cluster_lives.h"
#include "bench/percentile.h"
#include "tests/cluster/meter.h"
#include "tests/cluster/replica_process.h"

namespace fairlead::bench {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr auto kWarmUp = 2s;
constexpr auto kMeasured = 10s;
// Enough jobs to count their calls by.
constexpr uint64_t kTappedJobs = 200;
constexpr auto kTappedMax = 5s;
constexpr auto kIdle = 2s;
// What is still on its way when a job has ended.
constexpr auto kAfterwards = 200ms;

struct Case {
  std::string name;
  size_t in_flight;
  bool over_api = false;
  int replicas = 1;
  const char* appendfsync = "everysec";
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (size_t count : {1, 16, 256, 1000}) {
    cases.push_back({fmt::format("inflight={}", count), count});
  }
  for (size_t count : {1, 16, 256, 1000}) {
    cases.push_back({fmt::format("inflight={},submit=api", count), count, true});
  }
  cases.push_back({"replicas=3", 1000, false, 3});
  cases.push_back({"fsync=always", 1000, false, 1, "always"});
  return cases;
}

class ClusterRun {
 public:
  explicit ClusterRun(const Case& chosen)
      : case_(chosen), servers_(true, chosen.appendfsync), replicas_(start_replicas()) {}

  void run(BenchReport& report) {
    lives_.set_in_flight(case_.in_flight);
    lives_.run_for(kWarmUp);
    lives_.forget_times();
    const Reading before = read();
    lives_.run_for(kMeasured);
    const Reading after = read();
    check(lives_.run_until_ended(60s), "every job ends");
    const double idle = idle_commands_a_second();
    const double calls = calls_a_job();

    const double jobs = static_cast<double>(after.jobs - before.jobs);
    check(jobs > 0, "jobs end while they are measured");
    auto cpu_us = [&](double Reading::* part) { return (after.*part - before.*part) * 1e6 / jobs; };
    report.add("cluster", case_.name, jobs / Seconds(after.at - before.at).count(), "jobs/s",
               {{"dispatch_p50_ms", percentile(dispatch_ms_, 0.5)},
                {"dispatch_p99_ms", percentile(dispatch_ms_, 0.99)},
                {"terminal_p50_ms", percentile(terminal_ms_, 0.5)},
                {"terminal_p99_ms", percentile(terminal_ms_, 0.99)},
                {"redis_round_trips", calls},
                {"redis_commands", static_cast<double>(after.commands - before.commands) / jobs},
                {"scheduler_cpu_us", cpu_us(&Reading::schedulers)},
                {"nats_cpu_us", cpu_us(&Reading::nats)},
                {"redis_cpu_us", cpu_us(&Reading::redis)},
                {"load_cpu_us", cpu_us(&Reading::load)},
                {"idle_commands_per_s", idle}});
  }

 private:
  struct Reading {
    SteadyClock::time_point at;
    uint64_t jobs;
    uint64_t commands;
    double schedulers, nats, redis, load;  // processor seconds
  };

  std::vector<std::unique_ptr<cluster::ReplicaProcess>> start_replicas() {
    std::vector<std::unique_ptr<cluster::ReplicaProcess>> replicas;
    for (int i = 0; i < case_.replicas; ++i) {
      replicas.push_back(std::make_unique<cluster::ReplicaProcess>(
          servers_, fmt::format("replica-{}", i),
          std::vector<std::string>{"--log-level", "error"}));
    }
    return replicas;
  }

  std::vector<uint16_t> apis() const {
    std::vector<uint16_t> ports;
    for (const auto& replica : replicas_) {
      if (case_.over_api) ports.push_back(replica->api());
    }
    return ports;
  }

  // The times of what was measured are kept apart from those that follow.
  Reading read() {
    dispatch_ms_ = lives_.to_worker_ms();
    terminal_ms_ = lives_.to_end_ms();
    Reading reading{SteadyClock::now(),
                    lives_.ended(),
                    cluster::commands_run(servers_.redis),
                    0,
                    cluster::cpu_seconds(servers_.nats.id()),
                    cluster::cpu_seconds(servers_.redis.id()),
                    cluster::cpu_seconds(::getpid())};
    for (const auto& replica : replicas_) reading.schedulers += cluster::cpu_seconds(replica->id());
    return reading;
  }

  // From rest to rest, less what comes without any job in as much time.
  double calls_a_job() {
    cluster::RedisTap tap(lives_.context(), servers_.redis.port());
    lives_.run_for(kIdle);
    const double idle = static_cast<double>(tap.calls()) / Seconds(kIdle).count();

    const uint64_t calls = tap.calls();
    const uint64_t jobs = lives_.ended();
    const auto began = SteadyClock::now();
    lives_.set_in_flight(case_.in_flight);
    while (lives_.ended() < jobs + kTappedJobs && SteadyClock::now() - began < kTappedMax) {
      lives_.run_for(10ms);
    }
    check(lives_.run_until_ended(60s), "every job ends");
    lives_.run_for(kAfterwards);
    const double seconds = Seconds(SteadyClock::now() - began).count();
    return (static_cast<double>(tap.calls() - calls) - idle * seconds) /
           static_cast<double>(lives_.ended() - jobs);
  }

  double idle_commands_a_second() {
    const uint64_t before = cluster::commands_run(servers_.redis);
    lives_.run_for(kIdle);
    return static_cast<double>(cluster::commands_run(servers_.redis) - before) /
           Seconds(kIdle).count();
  }

  const Case& case_;
  cluster::Servers servers_;
  std::vector<std::unique_ptr<cluster::ReplicaProcess>> replicas_;
  ClusterLives lives_{servers_.nats.port(), apis()};
  std::vector<double> dispatch_ms_;
  std::vector<double> terminal_ms_;
};

}  // namespace

void run_cluster_bench(BenchReport& report) {
  for (const Case& each : all_cases()) {
    if (report.wants(each.name)) ClusterRun(each).run(report);
  }
}

}  // namespace fairlead::bench
