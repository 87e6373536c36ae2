#include "runtime/nursery.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/simulated_loop.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

class NurseryTest : public testing::Test {
 protected:
  // Waits `steps` seconds, one after the other; holds `alive` while it runs.
  Task<void> work(int steps, std::shared_ptr<int> held) {
    for (int i = 0; i < steps; ++i) {
      Result<void> slept = co_await loop.delay(1s);
      ends.push_back(slept.has_value() ? "slept" : "cancelled");
      if (!slept) co_return;
    }
    ends.push_back("done");
    (void)held;
  }

  SimulatedLoop loop;
  std::vector<std::string> ends;
  std::shared_ptr<int> alive = std::make_shared<int>();
};

TEST_F(NurseryTest, CountsRunningTasks) {
  Nursery nursery;
  EXPECT_EQ(nursery.running(), 0u);
  EXPECT_TRUE(nursery.spawn(work(1, alive)));
  EXPECT_TRUE(nursery.spawn(work(2, alive)));
  EXPECT_TRUE(nursery.spawn(work(0, alive)));
  EXPECT_EQ(nursery.running(), 2u);
  loop.run_for(1s);
  EXPECT_EQ(nursery.running(), 1u);
  loop.run_for(1s);
  EXPECT_EQ(nursery.running(), 0u);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(NurseryTest, CancelResumesEveryTaskWithAnErrorWhereItWaits) {
  Nursery nursery;
  nursery.spawn(work(5, alive));
  nursery.spawn(work(5, alive));
  loop.run_for(1s);
  ends.clear();
  nursery.cancel();
  EXPECT_EQ(ends, (std::vector<std::string>{"cancelled", "cancelled"}));
  EXPECT_EQ(nursery.running(), 0u);
  EXPECT_EQ(alive.use_count(), 1);
  loop.run_for(10s);
  EXPECT_EQ(ends.size(), 2u);
}

TEST_F(NurseryTest, CancelFailsEveryLaterWaitToo) {
  int failures = 0;
  auto stubborn = [](SimulatedLoop& time, int& failed) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      if (!co_await time.delay(1s)) ++failed;
    }
    Completer<Result<void>> completer;
    if (!co_await completer.future()) ++failed;
  };
  Nursery nursery;
  nursery.spawn(stubborn(loop, failures));
  nursery.cancel();
  EXPECT_EQ(failures, 4);
  EXPECT_EQ(nursery.running(), 0u);
}

TEST_F(NurseryTest, CancelReachesTheInnermostOfNestedTasks) {
  auto outer = [](Task<void> inner, std::string& end) -> Task<void> {
    co_await std::move(inner);
    end = "outer ended";
  };
  std::string end;
  Nursery nursery;
  nursery.spawn(outer(work(5, alive), end));
  nursery.cancel();
  EXPECT_EQ(ends, std::vector<std::string>{"cancelled"});
  EXPECT_EQ(end, "outer ended");
}

TEST_F(NurseryTest, CancelledTasksMayEndEachOther) {
  Completer<Result<void>> completer;
  auto first = [](SimulatedLoop& time, Completer<Result<void>>& other) -> Task<void> {
    (void)co_await time.delay(1h);
    other.complete({});
  };
  auto second = [](Future<Result<void>> future) -> Task<void> { (void)co_await future; };
  Nursery nursery;
  nursery.spawn(first(loop, completer));
  nursery.spawn(second(completer.future()));
  nursery.cancel();
  EXPECT_EQ(nursery.running(), 0u);
}

TEST_F(NurseryTest, MayBeCancelledByOneOfItsTasks) {
  Nursery nursery;
  auto canceller = [](SimulatedLoop& time, Nursery& own, bool& failed) -> Task<void> {
    (void)co_await time.delay(1s);
    own.cancel();
    failed = !co_await time.delay(1s);
  };
  bool failed = false;
  nursery.spawn(work(5, alive));
  nursery.spawn(canceller(loop, nursery, failed));
  loop.run_for(1s);
  EXPECT_TRUE(failed);
  EXPECT_EQ(nursery.running(), 0u);
}

TEST_F(NurseryTest, RefusesToSpawnAfterCancel) {
  Nursery nursery;
  nursery.cancel();
  EXPECT_TRUE(nursery.cancelled());
  EXPECT_FALSE(nursery.spawn(work(0, alive)));
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(NurseryTest, DropDestroysATaskAtEveryWaitAndUnlinksIt) {
  for (int step = 0; step < 4; ++step) {
    SimulatedLoop time;
    Completer<Result<void>> completer;
    auto task = [](SimulatedLoop& clock, Future<Result<void>> future,
                   std::shared_ptr<int>) -> Task<void> {
      (void)co_await clock.delay(1s);
      auto inner = [](SimulatedLoop& inner_clock, std::shared_ptr<int>) -> Task<void> {
        (void)co_await inner_clock.delay(1s);
      };
      co_await inner(clock, std::make_shared<int>());
      (void)co_await future;
    };
    Nursery nursery;
    nursery.spawn(task(time, completer.future(), alive));
    time.run_for(step * 1s);
    EXPECT_EQ(nursery.running(), 1u);
    nursery.drop();
    EXPECT_EQ(nursery.running(), 0u);
    EXPECT_EQ(alive.use_count(), 1) << "step " << step;
    const uint64_t steps = time.steps();
    time.run_for(1h);
    EXPECT_EQ(time.steps(), steps) << "a timer was left behind at step " << step;
    completer.complete({});
  }
}

TEST_F(NurseryTest, DropsItsTasksWhenDestroyed) {
  {
    Nursery nursery;
    nursery.spawn(work(5, alive));
  }
  EXPECT_EQ(alive.use_count(), 1);
  loop.run_for(10s);
  EXPECT_TRUE(ends.empty());
}

TEST_F(NurseryTest, MaySpawnAgainAfterDrop) {
  Nursery nursery;
  nursery.spawn(work(5, alive));
  nursery.drop();
  EXPECT_TRUE(nursery.spawn(work(0, alive)));
  EXPECT_EQ(ends, std::vector<std::string>{"done"});
}

Task<void> note_idle(Nursery& watched, bool& idle) {
  idle = (co_await watched.idle()).has_value();
}

TEST_F(NurseryTest, IsIdleAtOnceWhenNothingRuns) {
  Nursery nursery;
  EXPECT_TRUE(nursery.idle().await_ready());
}

TEST_F(NurseryTest, IsIdleWhenTheLastTaskEnds) {
  Nursery nursery, watchers;
  bool first = false, second = false;
  nursery.spawn(work(1, alive));
  nursery.spawn(work(2, alive));
  watchers.spawn(note_idle(nursery, first));
  watchers.spawn(note_idle(nursery, second));
  loop.run_for(1s);
  EXPECT_FALSE(first);
  loop.run_for(1s);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST_F(NurseryTest, MayBeDestroyedByTheOneThatWaitedForItsIdleness) {
  auto nursery = std::make_unique<Nursery>();
  Nursery watchers;
  auto closer = [](std::unique_ptr<Nursery>& owned) -> Task<void> {
    (void)co_await owned->idle();
    owned.reset();
  };
  nursery->spawn(work(1, alive));
  watchers.spawn(closer(nursery));
  loop.run_for(1s);
  EXPECT_EQ(nursery, nullptr);
}

TEST_F(NurseryTest, LetsATaskSpawnAnother) {
  Nursery nursery;
  auto parent = [this](Nursery& own) -> Task<void> {
    own.spawn(work(1, alive));
    co_return;
  };
  nursery.spawn(parent(nursery));
  EXPECT_EQ(nursery.running(), 1u);
  loop.run_for(1s);
  EXPECT_EQ(ends, (std::vector<std::string>{"slept", "done"}));
}

TEST(NurseryDeathTest, StopsTheProcessWhenATaskEndsWithAnException) {
  auto task = []() -> Task<void> {
    throw std::runtime_error("nobody catches this");
    co_return;
  };
  Nursery nursery;
  EXPECT_DEATH(nursery.spawn(task()), "nobody catches this");
}

}  // namespace
}  // namespace fairlead
