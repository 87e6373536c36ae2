// A store under load in a process of its own that is killed at a random moment, again and again, on
// one data folder; after each kill the folder is opened and audited.
#pragma once

#include <string>

#include "base/time.h"
#include "runtime/random.h"

namespace fairlead::crash {

struct CrashOptions {
  uint64_t rounds = 5;
  uint64_t seed = 1;
  Duration life_max = std::chrono::milliseconds(300);  // of a child, from its first acknowledgement
  uint64_t jobs_at_once = 200;
  bool verbose = false;
};

struct CrashSummary {
  uint64_t rounds = 0;
  uint64_t changes = 0;  // acknowledged
  uint64_t jobs = 0;
  std::string fault;   // empty: nothing lost
  std::string folder;  // kept when there is a fault
};

// `program` is started with the arguments that child() takes.
CrashSummary run(const std::string& program, const CrashOptions& options);

// The child's part: `--child FOLDER NEXT COUNT PIPE`. Does not return.
[[noreturn]] void child(const std::string& folder, uint64_t next, uint64_t count, int pipe);

}  // namespace fairlead::crash
