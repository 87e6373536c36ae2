#include "scheduler/dispatch.h"

#include <gtest/gtest.h>

#include "bus/forwarding_bus.h"
#include "routing/placement.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

TEST(Epochs, GrowByOneWhileTheStoreLosesNothing) {
  EXPECT_EQ(next_epoch(Epoch(), WallTime()), Epoch(1));
  EXPECT_EQ(next_epoch(Epoch(7), WallTime()), Epoch(8));
}

TEST(Epochs, OfAStoreThatLostSomeTwiceInASecondAreStillNewOnes) {
  const WallTime once = wall_time_from_micros(1'700'000'000'000'001);
  const Epoch first = next_epoch(Epoch(1), once);
  EXPECT_EQ(next_epoch(first, once), first.next());
  // The store knows neither of those two any more.
  EXPECT_GT(next_epoch(Epoch(1), once + 100ms), first.next());
}

// Its worker gets every dispatch, and the stream refuses each.
class FullStream final : public bus::ForwardingBus {
 public:
  using ForwardingBus::ForwardingBus;

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    if (routing::worker_of_subject(subject).empty()) {
      return ForwardingBus::publish(std::move(subject), std::move(payload), std::move(id));
    }
    cap::BusPacket packet;
    EXPECT_TRUE(packet.ParseFromString(payload));
    heard.push_back(packet.job_request().dispatch());
    return bus::Published::kUnknown;
  }
  Future<Result<std::optional<bool>>> stored(std::string, std::string) override {
    return std::optional<bool>(false);
  }

  std::vector<cap::DispatchIdentity> heard;
};

using DispatchTest = ReplicaTest;

TEST_F(DispatchTest, WhatItsStreamKeepsRefusingGoesToTheSameWorkerLessAndLessOften) {
  FullStream bus(bus_);
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler({loop_, clock_, random_, store_, bus, gate_, log_}, {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  for (const char* worker : {"w1", "w2"}) beat(worker, 4, 0);
  submit("j");
  for (int i = 0; i < 12; ++i) {
    loop_.run_for(5s);
    for (const char* worker : {"w1", "w2"}) beat(worker, 4, 0);
  }
  // After 2 s, 2 s, 4 s, 8 s, 16 s and so on.
  EXPECT_GE(bus.heard.size(), 5u);
  EXPECT_LE(bus.heard.size(), 7u);
  for (const auto& dispatch : bus.heard) {
    EXPECT_EQ(dispatch.assigned_worker_id(), bus.heard.front().assigned_worker_id());
  }
  // The first answer counts, whichever of them it is for.
  cap::BusPacket packet;
  packet.mutable_job_result()->set_job_id("j");
  packet.mutable_job_result()->set_worker_id(bus.heard.front().assigned_worker_id());
  packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
  *packet.mutable_job_result()->mutable_dispatch() = bus.heard.front();
  send(bus::kResultSubject, std::move(packet));
  EXPECT_EQ(stored("j")->state, job::State::kSucceeded);
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
