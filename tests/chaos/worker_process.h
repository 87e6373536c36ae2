// Several workers in a process of their own, which can be killed and stopped. Before anything else
// is done with a job its delivery is written down, in a file that survives the process:
//
//     D <micros> <worker> <job> <epoch>      delivered
//     R <micros> <worker> <job> <epoch>      its result is in the stream
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/chaos/evidence.h"
#include "tests/load/wire.h"

namespace fairlead::chaos {

struct WorkerOptions {
  load::Endpoint nats;
  std::string name;    // worker ids begin with it
  std::string ledger;  // the file, which is appended to
  int workers = 4;
  int capacity = 40;
  bool jetstream = true;
};

// Runs until a signal ends it.
[[noreturn]] void run_workers(const WorkerOptions& options);

// What workers wrote from a place of the file on; returns where it ends. A line that is cut short,
// because its writer was killed, is left for the next time.
std::uintmax_t read_ledger(const std::filesystem::path& file, std::uintmax_t from,
                           Evidence& evidence);

}  // namespace fairlead::chaos
