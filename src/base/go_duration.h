// Durations as Go programs write them in their settings: "10m", "168h", "1h30m", "1.5s", "250ms".
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fairlead {

// At least one number with its unit (ns, us, µs, ms, s, m, h), without a sign; less than a
// microsecond is dropped. The error says what is wrong with the text.
Result<Duration> parse_go_duration(std::string_view text);

}  // namespace fairlead
