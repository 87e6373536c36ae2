#include "scheduler/snapshot_keeper.h"

#include <gmock/gmock.h>

#include "base/rfc3339.h"
#include "job/request.h"
#include "scheduler/packets.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kKey = "sys:workers:snapshot";
constexpr const char* kLease = "cordum:scheduler:snapshot:writer";

class SnapshotTest : public ReplicaTest {
 protected:
  void SetUp() override { ASSERT_TRUE(run(bus_.start())); }
  void TearDown() override {
    scheduler_.reset();
    bus_.drop();
  }

  void start(Settings settings = {}) {
    scheduler_ = std::make_unique<Scheduler>(plugs(gate_), std::move(settings), pools());
    ASSERT_TRUE(run(scheduler_->start()));
    loop_.run_ready();
  }
  std::string snapshot() {
    auto blob = *store_.blob(kKey).await_resume();
    return blob ? blob->bytes : "";
  }
  // A snapshot of one worker, taken `age` ago.
  void leave_snapshot(Duration age, const std::string& label = "a") {
    write(R"({"captured_at":")" + rfc3339_seconds(clock_.wall() - age) +
          R"(","workers":[{"worker_id":"w1","pool":"default","max_parallel_jobs":4,)" +
          R"("labels":{"node.zone":")" + label + R"("}}]})");
  }
  void write(std::string text) {
    ASSERT_TRUE(*store_.put_blob(kKey, {std::move(text), {}}, {}).await_resume());
  }
  void beat(const std::string& zone) {
    cap::BusPacket packet;
    packet.set_trace_id("t");
    packet.set_sender_id("w1");
    packet.mutable_heartbeat()->set_worker_id("w1");
    packet.mutable_heartbeat()->set_pool("default");
    packet.mutable_heartbeat()->set_max_parallel_jobs(4);
    (*packet.mutable_heartbeat()->mutable_labels())["node.zone"] = zone;
    (void)bus_.publish(std::string(bus::kHeartbeatSubject), job::serialise(packet), {});
    loop_.run_ready();
  }
  bool knows() const { return scheduler_->registry().find(WorkerId("w1")) != nullptr; }

  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SnapshotTest, IsWrittenEveryFiveSecondsAndTheLeaseGivenBack) {
  start();
  beat("a");
  loop_.run_for(4900ms);
  EXPECT_EQ(snapshot(), "");
  loop_.run_for(200ms);
  EXPECT_THAT(snapshot(), HasSubstr("\"worker_id\":\"w1\""));
  EXPECT_THAT(snapshot(), HasSubstr("\"writer_id\":\"" + scheduler_->name() + "\""));
  EXPECT_TRUE(*store_.acquire(kLease, {"other.1.x", 10s}).await_resume());
}

TEST_F(SnapshotTest, IsLeftToWhoHoldsTheLease) {
  start();
  beat("a");
  ASSERT_TRUE(*store_.acquire(kLease, {"go-service", 60s}).await_resume());
  loop_.run_for(20s);
  EXPECT_EQ(snapshot(), "");
}

TEST_F(SnapshotTest, IsNotWrittenByTheOnlyReplica) {
  start({.alone = true});
  beat("a");
  loop_.run_for(20s);
  EXPECT_EQ(snapshot(), "");
}

TEST_F(SnapshotTest, IsNotEmptiedByAReplicaThatHasJustBegun) {
  write(R"({"captured_at":"2020-01-01T00:00:00Z"})");
  const std::string before = snapshot();
  start();
  loop_.run_for(20s);
  EXPECT_EQ(snapshot(), before);
  loop_.run_for(20s);
  EXPECT_NE(snapshot(), before) << "by then it knows that there are no workers";
}

TEST_F(SnapshotTest, GivesAReplicaItsWorkersBeforeTheFirstHeartbeat_H89) {
  leave_snapshot(10s);
  start();
  ASSERT_TRUE(knows());
  EXPECT_EQ(scheduler_->registry().find(WorkerId("w1"))->report.labels.at("node.zone"), "a");
}

TEST_F(SnapshotTest, GivesAWorkerNoMoreTimeThanItHadLeft_H90) {
  leave_snapshot(20s);
  start();
  loop_.run_for(9s);
  EXPECT_TRUE(knows());
  loop_.run_for(3s);
  EXPECT_FALSE(scheduler_->registry().alive(WorkerId("w1"), loop_.now()));
}

TEST_F(SnapshotTest, OlderThanAWorkersTimeToLiveIsNotUsed_H90) {
  leave_snapshot(31s);
  start();
  EXPECT_FALSE(knows());
}

TEST_F(SnapshotTest, DoesNotOverrideAHeartbeat) {
  leave_snapshot(10s, "a");
  start();
  beat("b");
  EXPECT_EQ(scheduler_->registry().find(WorkerId("w1"))->report.labels.at("node.zone"), "b");
}

TEST_F(SnapshotTest, ThatIsDamagedMeansAColdStart) {
  write("{nonsense");
  start();
  EXPECT_FALSE(knows());
}

TEST_F(SnapshotTest, OffersItsWorkersToJobsThatWait_H93) {
  start();
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("client");
  packet.mutable_job_request()->set_job_id("j1");
  packet.mutable_job_request()->set_topic("job.default");
  (void)bus_.publish(std::string(bus::kSubmitSubject), job::serialise(packet), {});
  loop_.run_ready();
  ASSERT_EQ(store_.load(JobId("j1"), {}).await_resume()->record->state, job::State::kPending);
  scheduler_.reset();

  leave_snapshot(10s);
  auto listening = bus_.subscribe("worker.w1.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
    co_return bus::Verdict::ack();
  });
  start();
  EXPECT_EQ(store_.load(JobId("j1"), {}).await_resume()->record->state, job::State::kRunning);
}

}  // namespace
}  // namespace fairlead::scheduler
