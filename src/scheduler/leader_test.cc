#include "scheduler/leader.h"

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

constexpr const char* kReconciler = "cordum:reconciler:default";

class LeaderTest : public ReplicaTest {
 protected:
  static Settings named(const char* instance) {
    Settings settings;
    settings.instance = instance;
    return settings;
  }
  void show_life(const Replica& replica) {
    ASSERT_TRUE(store_.sign_of_life(replica.name).await_resume());
  }
  // A job that was due to time out by now.
  void leave_running(const std::string& job) {
    cordum::agent::v1::JobRequest request;
    request.set_job_id(job);
    request.set_topic("job.default");
    store::Change change;
    *change.next = job::new_record(request, TraceId("t"), clock_.wall());
    change.next->state = job::State::kRunning;
    change.next->assignee = WorkerId("w");
    change.next->epoch = Epoch(1);
    change.next->due = clock_.wall() + 1s;
    change.path = {job::State::kPending, job::State::kScheduled, job::State::kDispatched,
                   job::State::kRunning};
    ASSERT_TRUE(store_.apply(std::move(change)).await_resume());
  }

  Replica one_{plugs(gate_), named("one"), pools()};
  Replica two_{plugs(gate_), named("two"), pools()};
};

TEST_F(LeaderTest, IsOneOfAllForAsLongAsItLives) {
  Leader first(one_, "k"), second(two_, "k");
  show_life(one_);
  show_life(two_);
  EXPECT_TRUE(run(first.leads()));
  for (int i = 0; i < 200; ++i) {
    loop_.run_for(1s);
    show_life(one_);
    show_life(two_);
    EXPECT_TRUE(run(first.leads()));
    EXPECT_FALSE(run(second.leads()));
  }
}

TEST_F(LeaderTest, IsFollowedWithinFiveSecondsOfItsDeath) {
  Leader first(one_, "k"), second(two_, "k");
  show_life(one_);
  ASSERT_TRUE(run(first.leads()));
  Duration waited{};
  while (!run(second.leads())) {
    show_life(two_);
    loop_.run_for(250ms);
    waited += 250ms;
    ASSERT_LE(waited, 5s);
  }
}

TEST_F(LeaderTest, IsNotTakenFromAGoServiceBeforeItsTime) {
  const std::string uuid = "3b9ad2a0-58cc-4372-a567-0e02b2c3d479";
  ASSERT_TRUE(*store_.acquire("k", {uuid, 60s}).await_resume());
  Leader leader(one_, "k");
  for (int i = 0; i < 59; ++i) {
    show_life(one_);
    EXPECT_FALSE(run(leader.leads()));
    loop_.run_for(1s);
  }
  loop_.run_for(2s);
  EXPECT_TRUE(run(leader.leads()));
}

TEST_F(LeaderTest, MayLeaveItToAnother) {
  Leader first(one_, "k"), second(two_, "k");
  show_life(one_);
  ASSERT_TRUE(run(first.leads()));
  run([](Leader& leader) -> Task<bool> {
    co_await leader.resign();
    co_return true;
  }(first));
  EXPECT_TRUE(run(second.leads()));
}

TEST_F(LeaderTest, OneReplicaTimesJobsOutWhileTheOthersLookOn) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler first(plugs(gate_), named("one"), pools()), second(plugs(gate_), named("two"), pools());
  ASSERT_TRUE(run(first.start()));
  loop_.run_for(2s);
  ASSERT_TRUE(run(second.start()));
  for (int i = 0; i < 10; ++i) leave_running(std::to_string(i));
  loop_.run_for(limits::kTimeoutsAfterBus);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(stored(std::to_string(i))->state, job::State::kTimeout);
  }
  EXPECT_EQ(first.metrics().value(Counter::kJobsCompleted, {}, status_name(job::State::kTimeout)),
            10u);
  bus_.drop();
}

TEST_F(LeaderTest, TimeoutsAreLeftToAGoSchedulerThatReconcilesAndDueJobsAreNot) {
  const std::string uuid = "3b9ad2a0-58cc-4372-a567-0e02b2c3d479";
  ASSERT_TRUE(*store_.acquire(kReconciler, {uuid, 60s}).await_resume());
  ASSERT_TRUE(*store_.acquire("cordum:replayer:pending", {uuid, 60s}).await_resume());
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), named("one"), pools());
  ASSERT_TRUE(run(scheduler.start()));
  leave_running("late");
  store::Change due;
  cordum::agent::v1::JobRequest request;
  request.set_job_id("due");
  request.set_topic("job.default");
  due.request = job::serialise(request);
  *due.next = job::new_record(request, TraceId("t"), clock_.wall());
  due.next->due = clock_.wall() + 1s;
  due.path = {job::State::kPending};
  ASSERT_TRUE(store_.apply(std::move(due)).await_resume());
  loop_.run_for(10s);
  EXPECT_EQ(stored("late")->state, job::State::kRunning);
  EXPECT_EQ(stored("due")->wait->reason, job::ReasonCode::kNoWorkers) << "it was tried";
  loop_.run_for(60s);
  EXPECT_EQ(stored("late")->state, job::State::kTimeout);
  bus_.drop();
}

TEST_F(LeaderTest, NothingIsDoneByAClockThatIsWrong) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), named("one"), pools());
  ASSERT_TRUE(run(scheduler.start()));
  scheduler.set_clock_offset(-6s, -6s);
  leave_running("late");
  loop_.run_for(10s);
  EXPECT_EQ(stored("late")->state, job::State::kRunning);
  EXPECT_EQ(scheduler.metrics().series(Gauge::kClockOffset).at(0).count, 6000u);
  scheduler.set_clock_offset(-6s, 4s);
  loop_.run_for(2s);
  EXPECT_EQ(stored("late")->state, job::State::kTimeout);
  bus_.drop();
}

TEST_F(LeaderTest, WhoseClockIsWrongLeavesTimesToOthers) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler first(plugs(gate_), named("one"), pools()), second(plugs(gate_), named("two"), pools());
  ASSERT_TRUE(run(first.start()));
  loop_.run_for(2s);
  ASSERT_TRUE(run(second.start()));
  first.set_clock_offset(6s, 6s);
  leave_running("late");
  loop_.run_for(70s);
  EXPECT_EQ(stored("late")->state, job::State::kTimeout);
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
