// What becomes of jobs while the policy cannot be asked, as `safety.yaml` says it (FM-1, FM-2).
#pragma once

#include <string_view>

#include "base/result.h"

namespace fairlead::scheduler {

enum class FailMode {
  kClosed,  // they wait
  kOpen,    // they run
};

// "open" is open; anything else is closed.
FailMode fail_mode_of(std::string_view word);

// `input_policy.fail_mode` of the text of a `safety.yaml`; closed where it is missing. What else
// there is belongs to others.
Result<FailMode> parse_fail_mode(std::string_view yaml);

}  // namespace fairlead::scheduler
