// What `fairlead worker` is told on its command line.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace fairlead::worker {

// Of "nats://user:password@host:4222" and the like.
struct ServerAddress {
  std::string host;
  uint16_t port = 0;
  bool tls = false;
  std::string user;
  std::string password;
  std::string token;
  // They are another listener's: this one may want none.
  bool borrowed = false;
  std::string ca_file;  // empty: the system's authorities
  // Shown to a listener that wants one; "": none.
  std::string certificate;
  std::string key;

  bool names_someone() const;
  std::string shown() const;  // without secrets
};

struct Options {
  enum class CpuLoad { kJobs, kMachine };

  bool help = false;
  std::string id;
  std::string pool;
  std::vector<std::string> topics;
  int parallel = 1;
  ServerAddress server;
  ServerAddress payloads;
  std::map<std::string, std::string> labels;
  std::vector<std::string> capabilities;
  Duration grace = limits::kStopGrace;
  size_t output_bytes_max = limits::kOutputBytesDefault;
  Duration results_kept = limits::kEndedJobTtl;
  // A machine that is busy with other things is no reason to be given no jobs.
  CpuLoad cpu_load = CpuLoad::kJobs;
  std::vector<std::string> command;
};

// The environment gives what the command line does not: NATS_URL, REDIS_URL, FAIRLEAD_WORKER_TOKEN,
// NATS_TLS_CA, NATS_TLS_CERT, NATS_TLS_KEY and WORKER_ID. The error is one line that says what to
// do.
Result<Options> parse_options(std::span<const std::string_view> args,
                              const std::map<std::string, std::string>& environment);

std::string_view usage();
// Every flag there is, with its dashes.
std::vector<std::string_view> flag_names();

}  // namespace fairlead::worker
