#include "runtime/clock.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(SystemClock, CountsWallTimeFromTheUnixEpochInMicroseconds) {
  SystemClock clock;
  EXPECT_GT(to_micros(clock.wall()), 1'700'000'000'000'000);
  EXPECT_LT(to_micros(clock.wall()), 5'000'000'000'000'000);
}

TEST(SystemClock, NeverGoesBackInMonotonicTime) {
  SystemClock clock;
  MonotonicTime last = clock.monotonic();
  for (int i = 0; i < 1000; ++i) {
    const MonotonicTime now = clock.monotonic();
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace fairlead
