#include "scheduler/steady_time.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  WallTime wall() const override { return wall_; }
  MonotonicTime monotonic() const override { return monotonic_; }
  void advance(Duration by) {
    wall_ += by;
    monotonic_ += by;
  }
  void set(Duration by) { wall_ += by; }

 private:
  WallTime wall_ = wall_time_from_micros(1'767'225'600'000'000);
  MonotonicTime monotonic_{};
};

TEST(SteadyTime, BeginsWithTheReplicaAndStays) {
  SetClock clock;
  WallTime began = clock.wall();
  SteadyTime steady(clock);
  clock.advance(48h);
  EXPECT_EQ(steady.since(), began);
}

TEST(SteadyTime, BeginsAgainWhenTheClockIsSet) {
  for (Duration by : {Duration(1h), Duration(-1h)}) {
    SetClock clock;
    SteadyTime steady(clock);
    clock.advance(10min);
    clock.set(by);
    WallTime then = clock.wall();
    EXPECT_EQ(steady.since(), then);
    clock.advance(10min);
    EXPECT_EQ(steady.since(), then);
  }
}

TEST(SteadyTime, DoesNotMindSmallCorrections) {
  SetClock clock;
  WallTime began = clock.wall();
  SteadyTime steady(clock);
  clock.set(2s);
  clock.advance(1h);
  clock.set(-4s);
  EXPECT_EQ(steady.since(), began);
}

}  // namespace
}  // namespace fairlead::scheduler
