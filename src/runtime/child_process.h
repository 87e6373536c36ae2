// A program that runs beside us, in a process group of its own: what it starts dies with it.
//
// Its standard input is a file, its standard output, its errors and its descriptor 3 are pipes that
// the owner reads. It holds none of our other descriptors, and it is killed when we die; with a
// watchdog, all of its group is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "runtime/watchdog.h"

namespace fairlead {

struct ChildSpec {
  std::string program;             // a path, as find_program gives it
  std::vector<std::string> words;  // argv, the program's name first
  // Added to the variables that we have ourselves.
  std::vector<std::pair<std::string, std::string>> variables;
  std::string input_path;  // empty: nothing to read
  // Guards its group from before the program begins until it has ended; outlives it. nullptr: none.
  const Watchdog* watchdog = nullptr;
};

struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  // not 0: the signal that ended it
};

// The path of a program named as in a shell: with a slash the path itself, else looked for in PATH.
Result<std::string> find_program(const std::string& name);

class ChildProcess {
 public:
  // kInvalid when the program cannot be run, kUnavailable when the system has no room for it.
  static Result<ChildProcess> start(const ChildSpec& spec);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills the group if the program has not ended.
  ~ChildProcess();

  pid_t id() const { return id_; }

  // The reading ends, which do not block. Each is given once, with its ownership.
  int take_output() { return std::exchange(output_, -1); }
  int take_errors() { return std::exchange(errors_, -1); }
  int take_progress() { return std::exchange(progress_, -1); }

  // To every process of the group, while the program has not ended.
  void signal(int number);

  // How the program ended, once it has; what it left running is killed then. Does not wait: SIGCHLD
  // tells when to ask.
  std::optional<ChildEnd> poll();

 private:
  ChildProcess() = default;
  // Ends what is left of the group, and takes the end of the program; its status.
  int reap();

  pid_t id_ = -1;
  const Watchdog* watchdog_ = nullptr;
  int output_ = -1;
  int errors_ = -1;
  int progress_ = -1;
  std::optional<ChildEnd> end_;
};

}  // namespace fairlead
