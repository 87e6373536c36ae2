#include "gate/breaker.h"

namespace fairlead::gate {

bool Breaker::admit(MonotonicTime now) {
  if (!open_) return true;
  if (now < open_until_ || probes_ >= kProbesMax) return false;
  ++probes_;
  return true;
}

void Breaker::succeeded(MonotonicTime now) {
  if (!open_) {
    failures_ = 0;
    return;
  }
  // An answer to a call that was made before it opened says nothing of now.
  if (!half_open(now) || probes_ == 0) return;
  --probes_;
  if (++successes_ >= kSuccessesToClose) *this = {};
}

void Breaker::failed(MonotonicTime now) {
  if (!open_) {
    if (++failures_ >= kFailuresToOpen) open(now);
    return;
  }
  if (half_open(now)) open(now);
}

void Breaker::open(MonotonicTime now) {
  *this = {};
  open_ = true;
  open_until_ = now + kOpenFor;
}

}  // namespace fairlead::gate
