// Durable full-life jobs through the embedded core: submitted, dispatched, answered, ended, with
// RocksDB and fsync. Client and workers run in the same process and their cost is in the figures.
#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <sys/resource.h>

#include "bench/benches.h"
#include "bench/embedded.h"
#include "bench/percentile.h"

namespace fairlead::bench {

namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

constexpr Seconds kWarmUp{1};
constexpr Seconds kMeasured{4};

double cpu_micros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto micros = [](const timeval& t) { return t.tv_sec * 1e6 + static_cast<double>(t.tv_usec); };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

// One client that has a job out at all times, until it is told to stop.
Task<void> keep_one_out(Embedded& core, const bool& stop, uint64_t& done) {
  while (!stop) {
    co_await core.live_one_life();
    ++done;
  }
}

struct Measured {
  uint64_t jobs = 0;
  double seconds = 0;
  double fsyncs = 0;
  double cpu = 0;
};

Task<void> measure(Embedded& core, const uint64_t& done, Measured& measured) {
  (void)co_await core.loop().delay(std::chrono::duration_cast<Duration>(kWarmUp));
  core.dispatch_micros().clear();
  uint64_t done_before = done;
  uint64_t fsyncs_before = core.store().statistics().commits;
  double cpu_before = cpu_micros();
  auto began = SteadyClock::now();
  (void)co_await core.loop().delay(std::chrono::duration_cast<Duration>(kMeasured));
  measured.seconds = Seconds(SteadyClock::now() - began).count();
  measured.jobs = done - done_before;
  measured.fsyncs = static_cast<double>(core.store().statistics().commits - fsyncs_before);
  measured.cpu = cpu_micros() - cpu_before;
}

Task<void> closed_loop(Embedded& core, int in_flight, Measured& measured) {
  bool stop = false;
  uint64_t done = 0;
  Nursery clients;
  for (int i = 0; i < in_flight; ++i) clients.spawn(keep_one_out(core, stop, done));
  co_await measure(core, done, measured);
  stop = true;
  (void)co_await clients.idle();
}

Task<void> live_counted(Embedded& core, uint64_t& done) {
  co_await core.live_one_life();
  ++done;
}

// Jobs come at a steady rate, whatever becomes of them.
Task<void> offer(Embedded& core, double a_second, const bool& stop, Nursery& jobs, uint64_t& done) {
  auto began = SteadyClock::now();
  uint64_t sent = 0;
  while (!stop) {
    auto due = static_cast<uint64_t>(Seconds(SteadyClock::now() - began).count() * a_second);
    for (; sent < due; ++sent) jobs.spawn(live_counted(core, done));
    (void)co_await core.loop().delay(Duration(200));
  }
}

Task<void> open_loop(Embedded& core, double a_second, Measured& measured) {
  bool stop = false;
  uint64_t done = 0;
  Nursery jobs;
  Nursery source;
  source.spawn(offer(core, a_second, stop, jobs, done));
  co_await measure(core, done, measured);
  stop = true;
  (void)co_await source.idle();
  (void)co_await jobs.idle();
}

void report_case(BenchReport& report, Embedded& core, const std::string& name,
                 const Measured& measured) {
  double jobs = static_cast<double>(std::max<uint64_t>(1, measured.jobs));
  std::vector<double>& latency = core.dispatch_micros();
  report.add("core", name, jobs / measured.seconds, "jobs/s",
             {{"fsyncs_per_job", measured.fsyncs / jobs},
              {"cpu_us_per_job", measured.cpu / jobs},
              {"dispatch_p50_ms", percentile(latency, 0.50) / 1000},
              {"dispatch_p99_ms", percentile(latency, 0.99) / 1000}});
}

}  // namespace

double core_jobs_per_second(Embedded& core, int in_flight) {
  Measured measured;
  core.run(closed_loop(core, in_flight, measured));
  return static_cast<double>(measured.jobs) / measured.seconds;
}

void run_core_bench(BenchReport& report) {
  for (int in_flight : {1, 64, 512, 2000}) {
    std::string name = fmt::format("inflight={}", in_flight);
    if (!report.wants(name)) continue;
    Embedded core;
    core.add_workers(10, 4000);
    Measured measured;
    core.run(closed_loop(core, in_flight, measured));
    report_case(report, core, name, measured);
  }
  if (!report.wants("offered=1000/s")) return;
  Embedded core;
  core.add_workers(10, 4000);
  Measured measured;
  core.run(open_loop(core, 1000, measured));
  report_case(report, core, "offered=1000/s", measured);
}

}  // namespace fairlead::bench
