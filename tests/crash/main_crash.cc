// crash [--server] --rounds N [--seed S]: kills a store, or a whole server, under load N times and
// looks for what was lost.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tests/crash/crash_run.h"
#include "tests/crash/server_rounds.h"

namespace {

int usage() {
  fmt::print(stderr,
             "usage: crash [--server] --rounds N [--seed S]\n"
             "  --server  kill `fairlead up` under load from its API and 50 workers; without it,\n"
             "            a store alone\n");
  return 2;
}

int kill_servers(uint64_t rounds, uint64_t seed) {
  using namespace fairlead::crash;
  ServerSummary summary = run_server_rounds({.rounds = rounds, .seed = seed, .verbose = true});
  if (!summary.fault.empty()) {
    fmt::print("{}crash: FAILED after round {} (seed {}); the folder is kept: {}\n", summary.fault,
               summary.rounds, seed, summary.folder);
    return 1;
  }
  fmt::print(
      "crash: {} rounds, {} accepted jobs all ended, {} epochs handed out once each, {} programs "
      "run once each\n",
      summary.rounds, summary.accepted, summary.handed_out, summary.own_runs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlead::crash;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "--child") {
    child(arguments[1], std::stoull(arguments[2]), std::stoull(arguments[3]),
          std::stoi(arguments[4]));
  }
  bool server = !arguments.empty() && arguments[0] == "--server";
  if (server) arguments.erase(arguments.begin());
  CrashOptions options{.rounds = 20, .verbose = true};
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    char* end = nullptr;
    uint64_t number = std::strtoull(arguments[i + 1].c_str(), &end, 10);
    if (*end != 0) return usage();
    if (arguments[i] == "--rounds") {
      options.rounds = number;
    } else if (arguments[i] == "--seed") {
      options.seed = number;
    } else {
      return usage();
    }
  }
  if (arguments.size() % 2 != 0 || options.rounds == 0) return usage();

  if (server) return kill_servers(options.rounds, options.seed);
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
