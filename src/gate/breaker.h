// A circuit breaker: after a few failures in a row it stops calling for a while, then lets a few
// probes through and closes again when they succeed.
//
// It is a plain value; who asks says what time it is.
#pragma once

#include "base/time.h"

namespace fairlead::gate {

class Breaker {
 public:
  static constexpr int kFailuresToOpen = 3;
  static constexpr Duration kOpenFor = std::chrono::seconds(30);
  static constexpr int kProbesMax = 3;
  static constexpr int kSuccessesToClose = 2;

  // Whether a call may be made now. One that may is followed by succeeded() or failed().
  bool admit(MonotonicTime now);
  void succeeded(MonotonicTime now);
  void failed(MonotonicTime now);

  bool is_open(MonotonicTime now) const { return open_ && now < open_until_; }

 private:
  void open(MonotonicTime now);
  bool half_open(MonotonicTime now) const { return open_ && now >= open_until_; }

  bool open_ = false;  // until open_until_; after that half open
  MonotonicTime open_until_;
  int failures_ = 0;   // in a row, while closed
  int probes_ = 0;     // admitted and not yet answered, while half open
  int successes_ = 0;  // of probes
};

}  // namespace fairlead::gate
