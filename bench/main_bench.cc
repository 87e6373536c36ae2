// bench [NAME…] [--case TEXT] [--json]: runs the named benches, or all of them.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/benches.h"
#include "bench/report.h"

namespace {

using fairlead::bench::BenchReport;

struct Bench {
  std::string_view name;
  std::string_view help;
  void (*run)(BenchReport&);
};

constexpr Bench kBenches[] = {
    {"waiting", "memory, start and speed with a million waiting jobs",
     fairlead::bench::run_waiting_bench},
    {"placement", "picks a second, from 10 to 100,000 workers",
     fairlead::bench::run_placement_bench},
    {"core", "durable full-life jobs a second through the embedded core",
     fairlead::bench::run_core_bench},
    {"api", "jobs over real sockets: accepted a second, full lives a second, time to a worker",
     fairlead::bench::run_api_bench},
    {"connections", "bytes of an idle worker's connection", fairlead::bench::run_connections_bench},
    {"start", "how long the command line takes to say something", fairlead::bench::run_start_bench},
    {"cluster", "jobs on NATS and Redis: full lives a second, times, and what a job costs",
     fairlead::bench::run_cluster_bench},
};

int usage() {
  std::fputs("usage: bench [NAME…] [--case TEXT] [--json]\n", stderr);
  for (const Bench& bench : kBenches) {
    std::fprintf(stderr, "  %-12s %s\n", bench.name.data(), bench.help.data());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  std::string only;
  std::vector<std::string_view> names;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--case" && i + 1 < argc) {
      only = argv[++i];
    } else if (std::ranges::find(kBenches, argument, &Bench::name) != std::end(kBenches)) {
      names.push_back(argument);
    } else {
      return usage();
    }
  }

  BenchReport report(json, only);
  for (const Bench& bench : kBenches) {
    if (names.empty() || std::ranges::find(names, bench.name) != names.end()) bench.run(report);
  }
  return 0;
}
