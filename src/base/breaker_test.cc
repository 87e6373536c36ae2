#include "base/breaker.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using std::chrono::seconds;

class BreakerTest : public testing::Test {
 protected:
  void fail(int times) {
    for (int i = 0; i < times; ++i) breaker_.failed(now_);
  }

  Breaker<MonotonicTime> breaker_;
  MonotonicTime now_{seconds(100)};
};

TEST_F(BreakerTest, OpensAtTheThirdFailureInARow) {
  fail(2);
  EXPECT_TRUE(breaker_.admit(now_));
  fail(1);
  EXPECT_FALSE(breaker_.admit(now_));
}

TEST_F(BreakerTest, ASuccessWhileClosedStartsTheCountAgain) {
  fail(2);
  breaker_.succeeded(now_);
  fail(2);
  EXPECT_TRUE(breaker_.admit(now_));
}

TEST_F(BreakerTest, StaysOpenForThirtySecondsFromTheLastFailure_H84) {
  fail(2);
  now_ += seconds(29);
  fail(1);
  now_ += seconds(30) - std::chrono::milliseconds(1);
  EXPECT_FALSE(breaker_.admit(now_));
  now_ += std::chrono::milliseconds(1);
  EXPECT_TRUE(breaker_.admit(now_));
}

TEST_F(BreakerTest, HalfOpenLetsThreeProbesThrough) {
  fail(3);
  now_ += seconds(30);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(breaker_.admit(now_));
  EXPECT_FALSE(breaker_.admit(now_));
}

TEST_F(BreakerTest, TwoProbesThatSucceedCloseIt) {
  fail(3);
  now_ += seconds(30);
  EXPECT_TRUE(breaker_.admit(now_));
  breaker_.succeeded(now_);
  fail(0);
  EXPECT_TRUE(breaker_.admit(now_));
  breaker_.succeeded(now_);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(breaker_.admit(now_));
}

TEST_F(BreakerTest, OneProbeThatFailsOpensItForAnotherThirtySeconds) {
  fail(3);
  now_ += seconds(30);
  EXPECT_TRUE(breaker_.admit(now_));
  breaker_.succeeded(now_);
  EXPECT_TRUE(breaker_.admit(now_));
  fail(1);
  now_ += seconds(29);
  EXPECT_FALSE(breaker_.admit(now_));
  now_ += seconds(1);
  EXPECT_TRUE(breaker_.admit(now_));
}

TEST_F(BreakerTest, ProbesThatAreNeverAnsweredDoNotKeepItHalfOpenForEver) {
  fail(3);
  now_ += seconds(30);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(breaker_.admit(now_));
  now_ += seconds(29);
  EXPECT_FALSE(breaker_.admit(now_));
  now_ += seconds(1);
  EXPECT_TRUE(breaker_.admit(now_));
}

TEST_F(BreakerTest, ALateSuccessOfACallMadeBeforeItOpenedDoesNotCloseIt_H85) {
  fail(3);
  breaker_.succeeded(now_);
  EXPECT_FALSE(breaker_.admit(now_));
  now_ += seconds(30);
  breaker_.succeeded(now_);
  breaker_.succeeded(now_);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(breaker_.admit(now_));
  EXPECT_FALSE(breaker_.admit(now_)) << "it is still half open";
}

}  // namespace
}  // namespace fairlead
