// For tests: a nats-server as a child process, on a port of its own and in a folder that is gone
// with it. It can be killed, stopped in its tracks and started again on the same port and folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/edge/child.h"

namespace fairlead::cluster {

struct NatsServerOptions {
  bool jetstream = true;
  std::string config{};  // more lines of its configuration file
  // A file to start with instead; its ports and folder are ours all the same.
  std::string file{};
  std::vector<std::string> flags{};
  std::map<std::string, std::string> variables{};
};

class NatsServerProcess {
 public:
  // Returns when it listens; stops the process with a message when it does not.
  explicit NatsServerProcess(NatsServerOptions options = {});
  ~NatsServerProcess();
  NatsServerProcess(const NatsServerProcess&) = delete;
  NatsServerProcess& operator=(const NatsServerProcess&) = delete;

  std::string url(const std::string& scheme = "nats") const;
  std::string monitor_url() const;
  uint16_t port() const { return port_; }
  uint16_t monitor_port() const { return monitor_port_; }
  pid_t id() const { return child_->id(); }

  // At once, as a crash; what it has not written is gone.
  void kill();
  // Again, where kill() left it; with other lines of configuration if given.
  void start();
  void start(std::string config);
  // Stops it in its tracks (SIGSTOP), and lets it go on.
  void freeze();
  void thaw();

  // Its folder, for certificates and the like.
  const std::filesystem::path& folder() const { return folder_; }
  std::string log() const;

 private:
  void write_config() const;
  std::vector<std::string> command() const;
  void await_ports();

  NatsServerOptions options_;
  std::filesystem::path folder_;
  uint16_t port_ = 0;  // 0: it chooses
  uint16_t monitor_port_ = 0;
  std::unique_ptr<edge::Child> child_;
};

}  // namespace fairlead::cluster
