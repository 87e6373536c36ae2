// How long a server that was told to stop takes for each thing, and for all.
#pragma once

#include "edge/net/net_limits.h"

namespace fairlead::app {

inline constexpr Duration kDrainCalls = std::chrono::milliseconds(2000);
inline constexpr Duration kDrainBus = std::chrono::milliseconds(2000);
inline constexpr Duration kDrainScheduler = std::chrono::milliseconds(1000);
inline constexpr Duration kDrainListener = std::chrono::milliseconds(700);
// After it the process ends as it is: what was acknowledged is on disk.
inline constexpr Duration kDrainAll = std::chrono::seconds(9);

static_assert(kDrainCalls + kDrainScheduler + 2 * (kDrainListener + limits::kStopLingerWait) <
                  kDrainAll,
              "everything has its time");
static_assert(kDrainCalls + kDrainBus + kDrainScheduler < kDrainAll, "so has a replica");

}  // namespace fairlead::app
