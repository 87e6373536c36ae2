// crash --rounds N [--seed S]: kills a store under load N times and looks for what was lost.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tests/crash/crash_run.h"

namespace {

int usage() {
  fmt::print(stderr, "usage: crash --rounds N [--seed S]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlead::crash;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "--child") {
    child(arguments[1], std::stoull(arguments[2]), std::stoull(arguments[3]),
          std::stoi(arguments[4]));
  }
  CrashOptions options{.rounds = 20, .verbose = true};
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    uint64_t number = std::strtoull(arguments[i + 1].c_str(), nullptr, 10);
    if (arguments[i] == "--rounds") {
      options.rounds = number;
    } else if (arguments[i] == "--seed") {
      options.seed = number;
    } else {
      return usage();
    }
  }
  if (arguments.size() % 2 != 0 || options.rounds == 0) return usage();

  CrashSummary summary = run("/proc/self/exe", options);
  if (!summary.fault.empty()) {
    fmt::print("{}crash: FAILED in round {} (seed {}); the data folder is kept: {}\n",
               summary.fault, summary.rounds, options.seed, summary.folder);
    return 1;
  }
  fmt::print("crash: {} rounds, {} acknowledged changes of {} jobs, nothing lost\n", summary.rounds,
             summary.changes, summary.jobs);
  return 0;
}
