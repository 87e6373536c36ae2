// The limits of listeners' own, each with its reason.
#pragma once

#include "base/limits.h"

namespace fairlead::limits {

// Connections of a listener that stops may take what was given to them for this long: a server that
// drains has little time.
inline constexpr Duration kStopLingerWait = 1s;

// A job that a connection does not take for so long keeps its dispatch in doubt: who does not read
// is cut off, and the job goes its way.
inline constexpr Duration kUnwrittenWait = 10s;

static_assert(kStopLingerWait <= kLingerWait);

}  // namespace fairlead::limits
