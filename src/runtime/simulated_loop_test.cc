#include "runtime/simulated_loop.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/nursery.h"
#include "runtime/random.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

class SimulatedLoopTest : public testing::Test {
 protected:
  Loop::Work note(char name) {
    return [this, name] { seen += name; };
  }
  SimulatedLoop loop;
  std::string seen;
};

TEST_F(SimulatedLoopTest, RunsPostedWorkInOrderAndNotInsidePost) {
  loop.post(note('a'));
  loop.post(note('b'));
  EXPECT_EQ(seen, "");
  loop.run_ready();
  EXPECT_EQ(seen, "ab");
}

TEST_F(SimulatedLoopTest, RunsUrgentWorkBeforeAllOther) {
  loop.post(note('a'));
  loop.post_urgent(note('b'));
  loop.run_ready();
  EXPECT_EQ(seen, "ba");
}

TEST_F(SimulatedLoopTest, JumpsFromTimerToTimer) {
  std::vector<Duration> times;
  for (Duration after : {3s, 1s, 2s}) {
    loop.call_at(loop.now() + after, [&] { times.push_back(loop.now().time_since_epoch()); });
  }
  loop.run_for(2500ms);
  EXPECT_EQ(times, (std::vector<Duration>{1s, 2s}));
  EXPECT_EQ(loop.now(), MonotonicTime(2500ms));
}

TEST_F(SimulatedLoopTest, FiresEqualTimersInTheOrderOfArming) {
  loop.call_at(MonotonicTime(1s), note('a'));
  loop.call_at(MonotonicTime(1s), note('b'));
  loop.run_for(1s);
  EXPECT_EQ(seen, "ab");
}

TEST_F(SimulatedLoopTest, RunsPostedWorkBeforeTheNextTimer) {
  loop.call_at(MonotonicTime(1s), [this] {
    seen += 'a';
    loop.post(note('b'));
  });
  loop.call_at(MonotonicTime(1s), note('c'));
  loop.run_for(1s);
  EXPECT_EQ(seen, "abc");
}

TEST_F(SimulatedLoopTest, FiresATimerOfThePastAtOnceWithoutGoingBack) {
  loop.run_for(10s);
  loop.call_at(MonotonicTime(1s), note('a'));
  loop.run_ready();
  EXPECT_EQ(seen, "a");
  EXPECT_EQ(loop.now(), MonotonicTime(10s));
}

TEST_F(SimulatedLoopTest, ForgetsCancelledTimersAlsoWhenTheyHaveFired) {
  TimerId timer = loop.call_at(MonotonicTime(1s), note('a'));
  loop.cancel(timer);
  TimerId fired = loop.call_at(MonotonicTime(1s), note('b'));
  loop.run_for(2s);
  loop.cancel(fired);
  EXPECT_EQ(seen, "b");
}

TEST_F(SimulatedLoopTest, DelaysATaskInVirtualTime) {
  auto task = [](SimulatedLoop& time, std::string& out) -> Task<void> {
    EXPECT_TRUE(co_await time.delay(1h));
    out += 'a';
    EXPECT_TRUE(co_await time.delay(0s));
    out += 'b';
  };
  Nursery nursery;
  nursery.spawn(task(loop, seen));
  loop.run_for(1h - 1us);
  EXPECT_EQ(seen, "");
  loop.run_for(1us);
  EXPECT_EQ(seen, "ab");
}

// Tasks with random delays that post to each other.
std::string trace_of(uint64_t seed) {
  SimulatedLoop loop;
  SeededRandom random(seed);
  std::string trace;
  auto task = [&](char name) -> Task<void> {
    for (int i = 0; i < 20; ++i) {
      if (!co_await loop.delay(random.between(0us, 10us))) co_return;
      trace += name;
      loop.post([&trace, name] { trace += static_cast<char>(name - 'a' + 'A'); });
    }
  };
  Nursery nursery;
  for (char name = 'a'; name < 'f'; ++name) nursery.spawn(task(name));
  loop.run_for(1s);
  return trace + std::to_string(loop.steps());
}

TEST(SimulatedLoop, RunsTheSameForTheSameSeed) {
  EXPECT_EQ(trace_of(1), trace_of(1));
  EXPECT_NE(trace_of(1), trace_of(2));
}

}  // namespace
}  // namespace fairlead
