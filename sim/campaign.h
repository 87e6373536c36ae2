// Many runs, one after the other: what they saw, how fast they went, and the first that failed.
#pragma once

#include <cstdint>

namespace fairlead::sim {

// Each returns the exit code: 0 when all is well, 1 otherwise.
int replay(uint64_t seed);
int run_campaign(uint64_t from, uint64_t runs);
// Every planted bug must be caught within this many seeds.
inline constexpr uint64_t kPlantedSeedsMax = 1000;
int run_planted();

}  // namespace fairlead::sim
