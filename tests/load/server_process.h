// `fairlead up` as a child, on ports that are free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/load/up_line.h"

namespace fairlead::load {

class ServerProcess {
 public:
  // Starts it and waits until it is ready. `program` is the path of fairlead. What it logs goes to
  // the file `log`. Ends this process with a message when it does not come up.
  ServerProcess(const std::string& program, const std::string& data, const std::string& log,
                const std::vector<std::string>& flags = {}, const ServerPorts& ports = {});
  // Kills it if it runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  uint16_t api() const { return ports_.api; }
  uint16_t workers() const { return ports_.workers; }
  uint16_t payloads() const { return ports_.payloads; }
  uint16_t metrics() const { return ports_.metrics; }

  void kill();
  // SIGTERM; its exit status.
  int stop();
  // The same in two steps, for who has something to do until it has ended.
  void ask_to_stop();
  std::optional<int> exit_status();
  // Memory that it holds now.
  uint64_t resident_bytes() const;

 private:
  void read_ready_line(int pipe);

  pid_t pid_ = -1;
  ServerPorts ports_;
};

// The program `fairlead` of the build that this process is from; FAIRLEAD_PROGRAM overrides it.
std::string fairlead_program();

}  // namespace fairlead::load
