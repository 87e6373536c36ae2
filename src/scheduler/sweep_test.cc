#include "scheduler/sweep.h"

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"
#include "scheduler/wandering_bus.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

class SweepTest : public ReplicaTest {};

TEST_F(SweepTest, JobsThatAreOutDoNotTimeOutWithoutABusNorBeforeItWasRead) {
  WanderingBus bus(bus_, loop_);
  ASSERT_TRUE(run(bus_.start()));
  Settings settings;
  settings.alone = true;
  Scheduler scheduler(plugs_with(bus), settings, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w", 10, 0);
  submit("ended");
  submit("lost");
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("hurried");
  packet.mutable_job_request()->set_topic("job.default");
  packet.mutable_job_request()->mutable_budget()->set_deadline_ms(60'000);
  send(bus::kSubmitSubject, std::move(packet));
  ASSERT_EQ(stored("lost")->state, job::State::kRunning);

  bus.go();
  loop_.run_for(settings.timeouts.running + 60s);
  EXPECT_EQ(stored("lost")->state, job::State::kRunning);
  EXPECT_EQ(stored("hurried")->state, job::State::kTimeout) << "its client said so";
  bus.come_back();
  loop_.run_for(limits::kTimeoutsAfterBus - 1s);
  answer("w", "ended");
  EXPECT_EQ(stored("ended")->state, job::State::kSucceeded);
  EXPECT_EQ(stored("lost")->state, job::State::kRunning);
  loop_.run_for(2s);
  EXPECT_EQ(stored("lost")->state, job::State::kTimeout);
}

// Two replicas, each with a connection to the bus of its own; the first does the timeouts of both.
// A job is out and will be late.
class TimeoutsOfTwoTest : public ReplicaTest {
 protected:
  TimeoutsOfTwoTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(first_.start()));
    loop_.run_for(2s);
    EXPECT_TRUE(run(second_.start()));
    beat("w", 10, 0);
    submit("late");
    EXPECT_EQ(stored("late")->state, job::State::kRunning);
  }
  ~TimeoutsOfTwoTest() override { bus_.drop(); }

  static Settings settings() {
    Settings settings;
    settings.timeouts.running = kRunning;
    return settings;
  }

  static constexpr Duration kRunning = 60s;
  WanderingBus of_first_{bus_, loop_};
  WanderingBus of_second_{bus_, loop_};
  Scheduler first_{plugs_with(of_first_), settings(), pools()};
  Scheduler second_{plugs_with(of_second_), settings(), pools()};
};

TEST_F(TimeoutsOfTwoTest, TimeoutsAreDoneByAReplicaThatHasABus) {
  of_first_.go();
  loop_.run_for(kRunning + 5s);
  EXPECT_EQ(stored("late")->state, job::State::kTimeout);
}

TEST_F(TimeoutsOfTwoTest, TimeoutsGoOnWithTheFirstReplicaWhoseBusIsBack) {
  of_first_.go();
  of_second_.go();
  loop_.run_for(20s);
  of_first_.come_back();
  loop_.run_for(kRunning + limits::kTimeoutsAfterBus * 2);
  EXPECT_EQ(stored("late")->state, job::State::kTimeout);
}

}  // namespace
}  // namespace fairlead::scheduler
