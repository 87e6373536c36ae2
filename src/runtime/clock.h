// Where time comes from. Each replica has its own clock; in a simulation it may be wrong.
#pragma once

#include "base/time.h"

namespace fairlead {

class Clock {
 public:
  virtual ~Clock() = default;
  // For what is stored and shown. May step, forwards or back.
  virtual WallTime wall() const = 0;
  // For delays, renewals and ages. Never goes back.
  virtual MonotonicTime monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  MonotonicTime monotonic() const override;
};

}  // namespace fairlead
