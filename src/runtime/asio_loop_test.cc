#include "runtime/asio_loop.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/nursery.h"
#include "runtime/thread.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(AsioLoop, RunsPostedWorkInOrderUntilStopped) {
  AsioLoop loop;
  std::string seen;
  loop.post([&] { seen += 'a'; });
  loop.post([&] { loop.post([&] { seen += 'c'; }); });
  loop.post([&] { seen += 'b'; });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(seen, "abc");
}

TEST(AsioLoop, RunsWorkThatWasPostedBeforeStop) {
  AsioLoop loop;
  int ran = 0;
  for (int i = 0; i < 1000; ++i) loop.post([&] { ++ran; });
  loop.stop();
  loop.run();
  EXPECT_EQ(ran, 1000);
}

TEST(AsioLoop, TakesWorkFromOtherThreadsEachInItsOrder) {
  constexpr int kThreads = 4, kPosts = 5000;
  AsioLoop loop;
  std::vector<std::vector<int>> seen(kThreads);
  int left = kThreads * kPosts;
  std::vector<Thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back("poster", [&, thread] {
      for (int i = 0; i < kPosts; ++i) {
        loop.post([&, thread, i] {
          seen[static_cast<size_t>(thread)].push_back(i);
          if (--left == 0) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (Thread& thread : threads) thread.join();
  for (const auto& each : seen) {
    EXPECT_EQ(each.size(), static_cast<size_t>(kPosts));
    EXPECT_TRUE(std::ranges::is_sorted(each));
  }
}

TEST(AsioLoop, MayBeStoppedFromAnotherThread) {
  AsioLoop loop;
  Thread stopper("stopper", [&] { loop.stop(); });
  loop.run();
  stopper.join();
}

TEST(AsioLoop, FiresTimersInTheOrderOfTimeAndOfArming) {
  AsioLoop loop;
  std::string seen;
  const MonotonicTime start = loop.now();
  loop.call_at(start + 3ms, [&] { loop.stop(); });
  loop.call_at(start + 2ms, [&] { seen += 'b'; });
  loop.call_at(start + 1ms, [&] { seen += 'a'; });
  loop.call_at(start + 2ms, [&] { seen += 'c'; });
  loop.run();
  EXPECT_EQ(seen, "abc");
  EXPECT_GE(loop.now(), start + 3ms);
}

TEST(AsioLoop, FiresATimerThatIsArmedWhileAnotherFires) {
  AsioLoop loop;
  std::string seen;
  loop.call_at(loop.now(), [&] {
    seen += 'a';
    loop.call_at(loop.now() + 1ms, [&] {
      seen += 'c';
      loop.stop();
    });
    loop.call_at(loop.now() - 1s, [&] { seen += 'b'; });
  });
  loop.run();
  EXPECT_EQ(seen, "abc");
}

TEST(AsioLoop, ForgetsCancelledTimers) {
  AsioLoop loop;
  bool fired = false;
  TimerId timer = loop.call_at(loop.now() + 1ms, [&] { fired = true; });
  loop.call_at(loop.now() + 2ms, [&] { loop.stop(); });
  loop.cancel(timer);
  loop.run();
  EXPECT_FALSE(fired);
}

TEST(AsioLoop, DelaysATask) {
  AsioLoop loop;
  const MonotonicTime start = loop.now();
  auto task = [](AsioLoop& time) -> Task<void> {
    EXPECT_TRUE(co_await time.delay(2ms));
    EXPECT_TRUE(co_await time.delay(1ms));
    time.stop();
  };
  Nursery nursery;
  nursery.spawn(task(loop));
  loop.run();
  EXPECT_GE(loop.now(), start + 3ms);
}

TEST(AsioLoop, FreesWhatItNeverRan) {
  auto held = std::make_shared<int>();
  {
    AsioLoop loop;
    loop.post([held] {});
    loop.call_at(loop.now() + 1h, [held] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace fairlead
