// `fairlead up` under load from the API and 50 workers, killed at a random moment, again and again,
// on one data folder; in between it is told to stop, which it must do cleanly and in time. At the
// end every job that was accepted must have ended well, no worker may have been handed
// an epoch twice, and `fairlead worker` may have run no job twice.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::crash {

struct ServerRounds {
  uint64_t rounds = 5;  // that end by SIGKILL
  uint64_t seed = 1;
  bool verbose = false;
};

struct ServerSummary {
  uint64_t killed = 0;
  uint64_t stopped = 0;  // beside them, by SIGTERM
  uint64_t accepted = 0;
  uint64_t handed_out = 0;  // epochs, to workers
  uint64_t own_runs = 0;    // programs that `fairlead worker` ran
  std::string fault;        // empty: all is well
  std::string folder;       // kept when there is a fault
};

ServerSummary run_server_rounds(const ServerRounds& options);

}  // namespace fairlead::crash
