// The breakers of a store that lives in one process.
#pragma once

#include <map>
#include <string>

#include "base/breaker.h"
#include "store/store.h"

namespace fairlead::store {

class Breakers {
 public:
  BreakerAnswer tell(const std::string& name, BreakerEvent event, WallTime now) {
    Breaker<WallTime>& breaker = breakers_[name];
    bool admitted = true;
    switch (event) {
      case BreakerEvent::kAsk:
        admitted = breaker.admit(now);
        break;
      case BreakerEvent::kSuccess:
        breaker.succeeded(now);
        break;
      case BreakerEvent::kFailure:
        breaker.failed(now);
        break;
    }
    return {admitted, breaker.open_until()};
  }

 private:
  std::map<std::string, Breaker<WallTime>> breakers_;
};

}  // namespace fairlead::store
