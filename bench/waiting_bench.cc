// A million jobs that wait for workers which never come: what they cost in memory, how long the
// store takes to open with them, and how fast other jobs are meanwhile.
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <unistd.h>

#include "bench/benches.h"
#include "bench/embedded.h"

// Of the allocator, where it is linked.
extern "C" void mi_collect(bool force) __attribute__((weak));

namespace fairlead::bench {

namespace {

constexpr int kWaiting = 1'000'000;
constexpr int kSubmitters = 2000;

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// What the process has beyond RocksDB's memtables and cache, which are bounded and told apart.
double own_bytes(const Embedded& core) {
  // Pages that nothing uses are not counted.
  if (mi_collect) mi_collect(true);
  return resident_bytes() - static_cast<double>(core.store().memory_of_rocksdb());
}

Task<void> submit_some(Embedded& core, int& left) {
  while (left > 0) {
    --left;
    bool taken = co_await core.submit_unserved();
    check(taken, "a submit is taken");
  }
}

Task<void> submit_all(Embedded& core, int count) {
  Nursery submitters;
  int left = count;
  for (int i = 0; i < kSubmitters; ++i) submitters.spawn(submit_some(core, left));
  (void)co_await submitters.idle();
}

Task<void> nothing() {
  co_return;
}

}  // namespace

// Its cases build on each other: all of them are run, or none.
void run_waiting_bench(BenchReport& report) {
  if (!report.wants("memory") && !report.wants("start") && !report.wants("beside")) return;
  auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-waiting-" + std::to_string(getpid()));
  // First of all, so that nothing left by another bench is taken for room that was there.
  {
    Embedded core(folder.string());
    double empty = own_bytes(core);
    core.run(submit_all(core, kWaiting));
    report.add("waiting", "memory", (own_bytes(core) - empty) / kWaiting, "bytes/job",
               {{"rocksdb_mb", static_cast<double>(core.store().memory_of_rocksdb()) / 1e6},
                {"resident_mb", resident_bytes() / 1e6}});
  }
  double beside = 0;
  {
    auto began = std::chrono::steady_clock::now();
    Embedded core(folder.string());
    core.run(nothing());
    std::chrono::duration<double> opened = std::chrono::steady_clock::now() - began;
    report.add("waiting", "start", opened.count(), "s",
               {{"jobs", static_cast<double>(core.store().table().size())}});
    core.add_workers(10, 4000);
    beside = core_jobs_per_second(core, 512);
  }
  std::filesystem::remove_all(folder);

  Embedded core;
  core.add_workers(10, 4000);
  double alone = core_jobs_per_second(core, 512);
  report.add("waiting", "beside", beside, "jobs/s", {{"of_core", beside / alone}});
}

}  // namespace fairlead::bench
