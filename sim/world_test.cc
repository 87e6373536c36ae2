#include "sim/world.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

// What a run said: how many lines, and all of them in one number.
struct Trace {
  size_t lines = 0;
  size_t digest = 0;

  bool operator==(const Trace&) const = default;
};

Trace trace_of(uint64_t seed) {
  Trace trace;
  Report report = World(seed, [&](std::string line) {
                    ++trace.lines;
                    trace.digest = trace.digest * 31 + std::hash<std::string>{}(line);
                  }).run();
  EXPECT_FALSE(report.violation) << *report.violation;
  return trace;
}

TEST(World, TheSameSeedGivesTheSameTrace) {
  for (uint64_t seed : {1, 2, 3, 4, 5}) {
    Trace first = trace_of(seed);
    EXPECT_GT(first.lines, 100u);
    EXPECT_EQ(first, trace_of(seed)) << "seed " << seed;
    EXPECT_NE(first, trace_of(seed + 100));
  }
}

}  // namespace
}  // namespace fairlead::sim
