// A circuit breaker: after a few failures in a row it stops calling for a while, then lets a few
// probes through and closes again when they succeed.
//
// It is a plain value; who asks says what time it is, by a clock of any kind.
#pragma once

#include <optional>

#include "base/time.h"

namespace fairlead {

inline constexpr int kBreakerFailuresToOpen = 3;
inline constexpr Duration kBreakerOpenFor = std::chrono::seconds(30);
inline constexpr int kBreakerProbesMax = 3;
inline constexpr int kBreakerSuccessesToClose = 2;

template <class Time>
class Breaker {
 public:
  // Whether a call may be made now. One that may is followed by succeeded() or failed().
  bool admit(Time now) {
    if (!open_until_) return true;
    if (now < *open_until_) return false;
    // Who asked and never told what became of it may be dead.
    if (now >= probed_at_ + kBreakerOpenFor) probes_ = 0;
    if (probes_ >= kBreakerProbesMax) return false;
    ++probes_;
    probed_at_ = now;
    return true;
  }
  void succeeded(Time now) {
    if (!open_until_) {
      failures_ = 0;
      return;
    }
    // An answer to a call that was made before it opened says nothing of now.
    if (now < *open_until_ || probes_ == 0) return;
    --probes_;
    if (++successes_ >= kBreakerSuccessesToClose) close();
  }
  void failed(Time now) {
    const bool opens = open_until_ ? now >= *open_until_ : ++failures_ >= kBreakerFailuresToOpen;
    if (opens) open(now + kBreakerOpenFor);
  }

  // Another has seen that it must be open, or may be closed.
  void open(Time until) {
    close();
    open_until_ = until;
  }
  void close() { *this = {}; }

  // Until when no call is made; from then on it is half open. Nothing: it is closed.
  std::optional<Time> open_until() const { return open_until_; }
  bool has_failures() const { return failures_ > 0; }

 private:
  std::optional<Time> open_until_;
  int failures_ = 0;   // in a row, while closed
  int probes_ = 0;     // admitted and not yet answered, while half open
  Time probed_at_{};   // the last of them
  int successes_ = 0;  // of probes
};

}  // namespace fairlead
