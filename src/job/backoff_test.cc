#include "job/backoff.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::job {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMostJitter = limits::kBackoffJitterMax - 1us;

TEST(Backoff, DoublesFromOneSecondAndAddsTheJitter) {
  EXPECT_EQ(backoff(0, 0s), 1s);
  EXPECT_EQ(backoff(0, kMostJitter), 1s + kMostJitter);
  EXPECT_EQ(backoff(1, 0s), 2s);
  EXPECT_EQ(backoff(3, 0s), 8s);
  EXPECT_EQ(backoff(3, kMostJitter), 8s + kMostJitter);
  EXPECT_EQ(backoff(4, 0s), 16s);
}

TEST(Backoff, NeverExceedsThirtySecondsJitterIncluded) {
  for (int64_t attempts :
       {int64_t{5}, int64_t{10}, int64_t{11}, int64_t{100}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(backoff(attempts, 0s), 30s) << attempts;
    EXPECT_EQ(backoff(attempts, kMostJitter), 30s) << attempts;
  }
}

TEST(Backoff, TakesNegativeAttemptsForNone) {
  EXPECT_EQ(backoff(-5, 0s), backoff(0, 0s));
  EXPECT_EQ(backoff(std::numeric_limits<int64_t>::min(), 0s), backoff(0, 0s));
}

TEST(Backoff, VariesWithTheJitter) {
  EXPECT_NE(backoff(2, 1ms), backoff(2, 2ms));
}

TEST(BackoffDeathTest, RefusesJitterOutsideItsRange) {
  EXPECT_DEATH(backoff(0, limits::kBackoffJitterMax), "jitter");
  EXPECT_DEATH(backoff(0, -1us), "jitter");
}

TEST(WaitingSchedule, TriesAgainAfterOneThreeSevenSeconds) {
  EXPECT_EQ(next_attempt_at(1, 1), 1s);
  EXPECT_EQ(next_attempt_at(1, 2), 3s);
  EXPECT_EQ(next_attempt_at(1, 3), 7s);
  EXPECT_EQ(next_attempt_at(1, 5), 31s);
  EXPECT_EQ(next_attempt_at(1, 6), 61s);
  EXPECT_EQ(next_attempt_at(1, 7), 91s);
}

TEST(WaitingSchedule, AgreesWithWalkingItAttemptByAttempt) {
  for (uint32_t at_start = 0; at_start <= 60; ++at_start) {
    Duration time = 0s;
    for (uint32_t made = at_start; made <= at_start + 60; ++made) {
      Duration next = time + backoff(int64_t{made} - 1, 0s);
      ASSERT_EQ(next_attempt_at(at_start, made), next) << at_start << ", " << made;
      ASSERT_EQ(attempts_after(at_start, time), made) << at_start << ", " << made;
      ASSERT_EQ(attempts_after(at_start, next - 1us), made) << at_start << ", " << made;
      time = next;
    }
  }
}

TEST(WaitingSchedule, TheNextAttemptIsAlwaysStillToCome) {
  for (Duration waited = 0s; waited < 40min; waited += 777ms) {
    ASSERT_GT(next_attempt_at(1, attempts_after(1, waited)), waited);
  }
}

TEST(WaitingSchedule, FiftyAttemptsTakeAboutTwentyFiveMinutes) {
  Duration whole = next_attempt_at(1, limits::kSchedulingAttemptsMax - 1);
  EXPECT_GT(whole, 20min);
  EXPECT_LT(whole, 30min);
}

TEST(WaitingSchedule, AClockThatStepsBackCountsNoAttempts) {
  EXPECT_EQ(attempts_after(4, -1h), 4u);
  EXPECT_EQ(attempts_after(4, Duration::min()), 4u);
}

TEST(WaitingSchedule, EndlessWaitsCountToTheLimitOfTheNumber) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  EXPECT_EQ(attempts_after(0, Duration::max()), kMost);
  EXPECT_EQ(attempts_after(kMost, 0s), kMost);
  EXPECT_EQ(attempts_after(kMost - 1, 29s), kMost - 1);
  EXPECT_EQ(attempts_after(kMost - 1, 30s), kMost);
  EXPECT_EQ(next_attempt_at(kMost, kMost), 30s);
}

TEST(WaitingScheduleDeathTest, RefusesFewerAttemptsThanAtTheStart) {
  EXPECT_DEATH(next_attempt_at(3, 2), "attempts");
}

}  // namespace
}  // namespace fairlead::job
