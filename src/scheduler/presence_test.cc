#include "scheduler/presence.h"

#include <gtest/gtest.h>

#include "runtime/nursery.h"
#include "runtime/simulated_loop.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

class LoopTime final : public Clock {
 public:
  explicit LoopTime(const SimulatedLoop& loop) : loop_(loop) {}
  WallTime wall() const override { return WallTime(loop_.now().time_since_epoch()); }
  MonotonicTime monotonic() const override { return loop_.now() + slept; }

  Duration slept{};

 private:
  const SimulatedLoop& loop_;
};

class PresenceTest : public testing::Test {
 protected:
  PresenceTest() {
    tasks_.spawn(presence_.keep_noting(loop_, [this] { return listening_; }));
  }

  void beat(const std::string& worker) {
    registry_.heartbeat({.id = WorkerId(worker), .pool = PoolName("p")}, clock_.monotonic());
    presence_.heard(WorkerId(worker));
  }
  // As by SIGSTOP: time passes, and nothing runs.
  void stop_for(Duration time) { clock_.slept += time; }

  SimulatedLoop loop_;
  std::optional<MonotonicTime> listening_ = loop_.now();
  LoopTime clock_{loop_};
  routing::WorkerRegistry registry_;
  Presence presence_{clock_, registry_};
  Nursery tasks_;
  const WorkerId w_{"w"};
};

TEST_F(PresenceTest, WhoHasJustBegunToListenCallsNobodyGone) {
  EXPECT_TRUE(presence_.is_young());
  EXPECT_TRUE(presence_.may_live(w_));
  loop_.run_for(31s);
  EXPECT_FALSE(presence_.is_young());
  EXPECT_FALSE(presence_.may_live(w_));
}

TEST_F(PresenceTest, AWorkerThatIsNotHeardForATimeToLiveIsGone) {
  loop_.run_for(31s);
  beat("w");
  loop_.run_for(29s);
  EXPECT_TRUE(presence_.may_live(w_));
  EXPECT_TRUE(presence_.take_gone().empty());
  loop_.run_for(2s);
  EXPECT_FALSE(presence_.may_live(w_));
  EXPECT_EQ(presence_.take_gone(), std::vector{w_});
  EXPECT_TRUE(presence_.take_gone().empty());
}

TEST_F(PresenceTest, AnExpectedWorkerHasATimeToLiveToAppear) {
  loop_.run_for(31s);
  presence_.expect(w_);
  presence_.expect(WorkerId("v"));
  loop_.run_for(29s);
  EXPECT_TRUE(presence_.may_live(w_));
  beat("v");
  loop_.run_for(2s);
  EXPECT_EQ(presence_.take_gone(), std::vector{w_});
}

TEST_F(PresenceTest, WhoWasStoppedCallsNobodyGoneForWhatItMissed) {
  loop_.run_for(31s);
  beat("w");
  stop_for(60s);
  EXPECT_TRUE(presence_.may_live(w_)) << "before it could note anything";
  EXPECT_TRUE(presence_.take_gone().empty());
  loop_.run_for(20s);
  EXPECT_TRUE(presence_.may_live(w_));
  EXPECT_TRUE(presence_.take_gone().empty());
  loop_.run_for(11s);
  EXPECT_EQ(presence_.take_gone(), std::vector{w_});
}

TEST_F(PresenceTest, WhoHadNoBusCallsNobodyGoneForWhatItMissed) {
  loop_.run_for(31s);
  beat("w");
  listening_.reset();
  loop_.run_for(5min);
  EXPECT_TRUE(presence_.may_live(w_));
  EXPECT_TRUE(presence_.take_gone().empty());
  listening_ = loop_.now();
  loop_.run_for(29s);
  EXPECT_TRUE(presence_.may_live(w_));
  EXPECT_TRUE(presence_.take_gone().empty());
  loop_.run_for(2s);
  EXPECT_EQ(presence_.take_gone(), std::vector{w_});
}

TEST_F(PresenceTest, ABusThatComesAndGoesHasNotBeenListenedTo) {
  loop_.run_for(31s);
  beat("w");
  for (int i = 0; i < 10; ++i) {
    listening_.reset();
    loop_.run_for(4s);
    listening_ = loop_.now();
    loop_.run_for(1s);
  }
  EXPECT_TRUE(presence_.may_live(w_));
  EXPECT_TRUE(presence_.take_gone().empty());
  loop_.run_for(31s);
  EXPECT_EQ(presence_.take_gone(), std::vector{w_});
}

}  // namespace
}  // namespace fairlead::scheduler
