// Moments as text, in UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fairlead {

// "2026-01-02T03:04:05.000006Z".
std::string rfc3339(WallTime time);
// "2026-01-02T03:04:05Z".
std::string rfc3339_seconds(WallTime time);

struct ParsedTime {
  WallTime time;
  Duration unit;  // what the last digit counts: a second for a text without a fraction
};
// Nothing for any other text. Digits behind the microseconds are cut.
std::optional<ParsedTime> parse_rfc3339(std::string_view text);

}  // namespace fairlead
