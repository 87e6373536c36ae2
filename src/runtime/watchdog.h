// A small process beside ours that waits for our end, however it comes: then it kills the process
// groups that we named, and removes a folder. What a program started would live on otherwise, since
// only the program itself is told of our death.
#pragma once

#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace fairlead {

class Watchdog {
 public:
  // Forks. REQUIRES: this process has one thread.
  static Result<Watchdog> start(const std::string& folder);

  Watchdog(Watchdog&& other) noexcept;
  Watchdog& operator=(Watchdog&&) = delete;
  // Our end: waits until it has done its work.
  ~Watchdog();

  // A group that must not outlive us; one that has ended.
  void guard(pid_t group) const;
  void release(pid_t group) const;

 private:
  Watchdog(pid_t id, int pipe) : id_(id), pipe_(pipe) {}

  pid_t id_;
  int pipe_;
};

}  // namespace fairlead
