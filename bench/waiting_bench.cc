// A million jobs that wait for workers which never come: what they cost in memory, how long the
// store takes to open with them, and how fast other jobs are meanwhile.
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include "bench/benches.h"
#include "bench/embedded.h"

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

// Bytes that the program holds from the allocator.
double heap_bytes() {
  struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
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

void run_waiting_bench(BenchReport& report) {
  auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-waiting-" + std::to_string(getpid()));
  double alone = 0;
  {
    Embedded core;
    core.add_workers(10, 4000);
    alone = core_jobs_per_second(core, 512);
  }
  {
    Embedded core(folder.string());
    double heap_before = heap_bytes();
    core.run(submit_all(core, kWaiting));
    malloc_trim(0);
    double heap = heap_bytes() - heap_before;
    double apart = static_cast<double>(core.store().memory_of_rocksdb());
    report.add("waiting", "memory", (heap - apart) / kWaiting, "bytes/job",
               {{"rocksdb_mb", apart / 1e6}, {"resident_mb", resident_bytes() / 1e6}});
  }
  auto began = std::chrono::steady_clock::now();
  Embedded core(folder.string());
  core.run(nothing());
  std::chrono::duration<double> opened = std::chrono::steady_clock::now() - began;
  report.add("waiting", "start", opened.count(), "s",
             {{"jobs", static_cast<double>(core.store().table().size())}});
  core.add_workers(10, 4000);
  double beside = core_jobs_per_second(core, 512);
  report.add("waiting", "beside", beside, "jobs/s", {{"of_core", beside / alone}});
  std::filesystem::remove_all(folder);
}

}  // namespace fairlead::bench
