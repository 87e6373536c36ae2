// For tests: `fairlead serve` as a child process, on ports that are free.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cluster/nats_server_process.h"
#include "tests/cluster/redis_server_process.h"
#include "tests/edge/child.h"

namespace fairlead::cluster {

// The two servers that replicas share.
struct Servers {
  explicit Servers(bool with_jetstream = true, const char* appendfsync = "always")
      : jetstream(with_jetstream), nats({jetstream}), redis({"--appendfsync", appendfsync}) {}

  const bool jetstream;
  NatsServerProcess nats;
  RedisServerProcess redis;
};

class ReplicaProcess {
 public:
  // Starts it, with the API, and waits until it is ready.
  ReplicaProcess(const Servers& servers, std::string name,
                 const std::vector<std::string>& flags = {});

  // The same by any command and more variables of the environment.
  ReplicaProcess(const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& variables);

  uint16_t api() const { return api_; }
  uint16_t metrics() const { return metrics_; }
  pid_t id() const { return child_->id(); }
  const std::string& ready_line() const { return ready_line_; }

  // SIGKILL, and waits for its end.
  void kill();
  // SIGTERM; its exit status.
  int stop();
  // Stops it in its tracks (SIGSTOP), and lets it go on.
  void freeze();
  void thaw();

 private:
  std::unique_ptr<edge::Child> child_;
  std::string ready_line_;
  uint16_t api_ = 0;
  uint16_t metrics_ = 0;
};

}  // namespace fairlead::cluster
