#include "store/store_time.h"

#include <gtest/gtest.h>

namespace fairlead::store {
namespace {

using namespace std::chrono_literals;

class OwnClock final : public Clock {
 public:
  WallTime wall() const override { return wall_; }
  MonotonicTime monotonic() const override { return monotonic_; }
  void advance(Duration time) {
    wall_ += time;
    monotonic_ += time;
  }

  WallTime wall_{24h * 365 * 50};
  MonotonicTime monotonic_{100s};
};

TEST(StoreTime, IsTheReplicasOwnUntilTheStoreHasTold) {
  OwnClock own;
  StoreTime time(own);
  own.advance(3s);
  EXPECT_EQ(time.wall(), own.wall());
  EXPECT_EQ(time.monotonic(), own.monotonic());
}

TEST(StoreTime, IsTheStoresWhateverTheReplicasClockShows) {
  OwnClock own;
  StoreTime time(own);
  WallTime told = own.wall() - 35min;
  time.learn(told, own.monotonic());
  own.advance(2s);
  own.wall_ += 1h;
  EXPECT_EQ(time.wall(), told + 2s);
}

TEST(StoreTime, LiesBetweenWhatAnAnswerThatTookTimeAllows) {
  OwnClock own;
  StoreTime time(own);
  MonotonicTime asked = own.monotonic();
  own.advance(2s);
  WallTime told = own.wall() + 1h;
  time.learn(told, asked);
  EXPECT_EQ(time.wall(), told) << "the nearest to the replica's own";

  // An answer that came at once is exact; the next slow one does not spoil it.
  own.advance(1s);
  told = own.wall() + 1h;
  time.learn(told, own.monotonic());
  EXPECT_EQ(time.wall(), told);
  asked = own.monotonic();
  own.advance(2s);
  time.learn(told + 1s, asked);
  EXPECT_EQ(time.wall(), told + 2s);
}

TEST(StoreTime, IsTheReplicasOwnWhereTheStoreGoesByIt) {
  OwnClock own;
  StoreTime time(own);
  for (int i = 0; i < 3; ++i) {
    MonotonicTime asked = own.monotonic();
    own.advance(2s);
    time.learn(own.wall(), asked);
    EXPECT_EQ(time.wall(), own.wall());
  }
}

TEST(StoreTime, FollowsAStoreWhoseClockIsSet) {
  OwnClock own;
  StoreTime time(own);
  time.learn(own.wall(), own.monotonic());
  own.advance(1s);
  time.learn(own.wall() - 35min, own.monotonic());
  EXPECT_EQ(time.wall(), own.wall() - 35min);
}

}  // namespace
}  // namespace fairlead::store
