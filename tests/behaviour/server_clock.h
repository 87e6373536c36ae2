// The wall clock of a server that a test has started: virtual time for a program that knows none.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/time.h"

namespace fairlead::behaviour {

class ServerClock {
 public:
  ServerClock();
  ~ServerClock();
  ServerClock(const ServerClock&) = delete;
  ServerClock& operator=(const ServerClock&) = delete;

  // While it lives, programs that are started go by this clock, if they ask the C library for the
  // time. REQUIRES: one at a time.
  class Lend {
   public:
    explicit Lend(const ServerClock& clock);
    ~Lend();
    Lend(const Lend&) = delete;
    Lend& operator=(const Lend&) = delete;
  };

  void set(WallTime now) { micros_->store(to_micros(now)); }

 private:
  std::string path_;
  std::atomic<int64_t>* micros_ = nullptr;
};

}  // namespace fairlead::behaviour
