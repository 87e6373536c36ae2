#include "runtime/timer_queue.h"

#include <string>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime at(Duration time) {
  return MonotonicTime(time);
}

class TimerQueueTest : public testing::Test {
 protected:
  TimerId add(Duration time, char name) {
    return queue.add(at(time), [this, name] { fired += name; });
  }
  void run(Duration now) {
    while (Loop::Work work = queue.take_due(at(now))) work();
  }

  TimerQueue queue;
  std::string fired;
};

TEST_F(TimerQueueTest, FiresInTheOrderOfTime) {
  add(3s, 'c');
  add(1s, 'a');
  add(2s, 'b');
  run(10s);
  EXPECT_EQ(fired, "abc");
  EXPECT_TRUE(queue.empty());
}

TEST_F(TimerQueueTest, FiresEqualTimesInTheOrderOfArming) {
  add(1s, 'a');
  add(1s, 'b');
  add(1s, 'c');
  run(1s);
  EXPECT_EQ(fired, "abc");
}

TEST_F(TimerQueueTest, FiresNothingBeforeItsTime) {
  add(1s, 'a');
  run(1s - 1us);
  EXPECT_EQ(fired, "");
  EXPECT_EQ(queue.next(), at(1s));
}

TEST_F(TimerQueueTest, ForgetsARemovedTimer) {
  TimerId timer = add(1s, 'a');
  add(1s, 'b');
  queue.remove(timer);
  run(1s);
  EXPECT_EQ(fired, "b");
  queue.remove(timer);
}

TEST_F(TimerQueueTest, HasNoNextWhenEmpty) {
  EXPECT_EQ(queue.next(), std::nullopt);
}

}  // namespace
}  // namespace fairlead
