// Durations as the Go services write them in reasons: 300 s is "5m0s".
#pragma once

#include <string>

#include "base/time.h"

namespace fairlead::scheduler {

// Whole seconds; a fraction is dropped.
std::string go_duration(Duration duration);

}  // namespace fairlead::scheduler
