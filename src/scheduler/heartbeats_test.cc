#include "scheduler/heartbeats.h"

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// One of several replicas: it asks the store what is really out with a worker that reports less.
class HeartbeatsTest : public ReplicaTest {
 protected:
  static constexpr int kJobs = static_cast<int>(limits::kScanMax) + 100;

  void SetUp() override {
    ASSERT_TRUE(run(bus_.start()));
    ASSERT_TRUE(run(scheduler_.start()));
    auto inbox = bus_.subscribe("worker.w1.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
      co_return bus::Verdict::ack();
    });
    ASSERT_TRUE(inbox);
    inbox_ = *std::move(inbox);
    beat("w1", 2 * kJobs, 0);
    for (int i = 0; i < kJobs; ++i) submit("j" + std::to_string(i));
  }
  void TearDown() override { bus_.drop(); }

  int held() { return scheduler_.registry().find(WorkerId("w1"))->held; }

  Scheduler scheduler_{plugs(gate_), {}, pools()};
  std::unique_ptr<bus::Subscription> inbox_;
};

TEST_F(HeartbeatsTest, AWorkersJobsAreConfirmedHoweverMany) {
  ASSERT_EQ(held(), kJobs);
  loop_.run_for(limits::kConfirmHeldEvery + 1s);
  EXPECT_EQ(held(), kJobs);
}

TEST_F(HeartbeatsTest, AJobThatAnotherReplicaEndedIsNotHeldAnyMore) {
  job::Record ended = *stored("j5");
  store::Change change;
  change.guard.revision = ended.revision;
  change.path = {job::State::kSucceeded};
  ended.state = job::State::kSucceeded;
  *change.next = ended;
  ASSERT_TRUE(store_.apply(std::move(change)).await_resume());
  ASSERT_EQ(held(), kJobs);
  loop_.run_for(limits::kConfirmHeldEvery + 1s);
  EXPECT_EQ(held(), kJobs - 1);
}

}  // namespace
}  // namespace fairlead::scheduler
