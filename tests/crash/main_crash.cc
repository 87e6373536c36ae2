// crash [--server] --rounds N [--seed S], crash --cluster --rounds N: kills a store, a whole server
// (which is told to stop in between) or replicas of a cluster under load N times and looks for what
// was lost.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tests/cluster/kill_round.h"
#include "tests/crash/crash_run.h"
#include "tests/crash/server_rounds.h"

namespace {

int usage() {
  fmt::print(stderr,
             "usage: crash [--server] --rounds N [--seed S]\n"
             "       crash --cluster --rounds N\n"
             "  --server   kill `fairlead up` under load from its API and 50 workers; between\n"
             "             two kills it is told to stop as well\n"
             "  --cluster  kill the only replica, and one of three, with 1,000 of 2,000 jobs in\n"
             "             flight, with JetStream and without\n"
             "  otherwise  kill a store alone\n");
  return 2;
}

int kill_servers(uint64_t rounds, uint64_t seed) {
  using namespace fairlead::crash;
  ServerSummary summary = run_server_rounds({.rounds = rounds, .seed = seed, .verbose = true});
  if (!summary.fault.empty()) {
    fmt::print("{}crash: FAILED after {} kills and {} stops (seed {}); the folder is kept: {}\n",
               summary.fault, summary.killed, summary.stopped, seed, summary.folder);
    return 1;
  }
  fmt::print(
      "crash: {} kills and {} stops, {} accepted jobs all ended, {} epochs handed out once each, "
      "{} "
      "programs run once each\n",
      summary.killed, summary.stopped, summary.accepted, summary.handed_out, summary.own_runs);
  return 0;
}

int kill_replicas(uint64_t rounds) {
  using namespace fairlead::cluster;
  for (uint64_t round = 1; round <= rounds; ++round) {
    for (bool jetstream : {true, false}) {
      for (int replicas : {1, 3}) {
        const KillOptions options{.jetstream = jetstream, .replicas = replicas};
        const KillReport report = run_kill_round(options);
        fmt::print("round {}, {}, 1 of {} killed: {}\n", round,
                   jetstream ? "JetStream" : "core NATS", replicas, report.text());
        if (const std::string fault = broken_promise(options, report); !fault.empty()) {
          fmt::print("crash: FAILED: {}\n", fault);
          return 1;
        }
      }
    }
  }
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
  const bool server = std::erase(arguments, "--server") > 0;
  const bool cluster = std::erase(arguments, "--cluster") > 0;
  CrashOptions options{.rounds = 20, .verbose = true};
  bool seeded = false;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    char* end = nullptr;
    uint64_t number = std::strtoull(arguments[i + 1].c_str(), &end, 10);
    if (*end != 0) return usage();
    if (arguments[i] == "--rounds") {
      options.rounds = number;
    } else if (arguments[i] == "--seed") {
      options.seed = number;
      seeded = true;
    } else {
      return usage();
    }
  }
  if (arguments.size() % 2 != 0 || options.rounds == 0 || (server && cluster)) return usage();
  // Nothing in a cluster's round is drawn.
  if (cluster && seeded) return usage();

  if (cluster) return kill_replicas(options.rounds);
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
