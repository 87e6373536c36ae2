#include "sim/sim_bus.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SimBusAway : public testing::Test {
 protected:
  SimBusAway() {
    bus_.on_dispatch = [](const std::string&, const std::string&) {};
    bus_.on_dead_letter = [](const std::string&) {};
    bus_.on_result_answered = [](const std::string&) {};
    bus_.connect_worker("worker.w.jobs", [this](std::string) { ++dispatches_; });
  }

  std::unique_ptr<bus::Subscription> listen(std::string_view subject, std::string queue) {
    return *endpoint_.subscribe(std::string(subject), {.queue = std::move(queue)},
                                [this](bus::Delivery delivery) -> Task<bus::Verdict> {
                                  heard_.push_back(std::move(delivery.payload));
                                  co_return bus::Verdict::ack();
                                });
  }

  static Task<void> note(Future<Result<bus::Published>> answer,
                         std::optional<bus::Published>& noted) {
    noted = *co_await std::move(answer);
  }
  std::optional<bus::Published> publish(std::string subject) {
    std::optional<bus::Published> answer;
    Nursery tasks;
    tasks.spawn(note(endpoint_.publish(std::move(subject), "packet", "id"), answer));
    loop_.run_for(1s);
    return answer;
  }

  SimulatedLoop loop_;
  SeededRandom random_{1};
  Options options_;
  Observer observer_;
  bool healed_ = false;
  WorldPlugs plugs_{loop_, random_, options_, observer_, healed_, [](std::string) {}};
  SimBus bus_{plugs_};
  std::shared_ptr<Process> process_ = std::make_shared<Process>(loop_, "replica", Duration(0));
  BusEndpoint endpoint_{bus_, process_, [] {}};
  std::vector<std::string> heard_;
  int dispatches_ = 0;
};

TEST_F(SimBusAway, ReplicasKnowThatItIsAwayAndSinceWhenItIsBack) {
  EXPECT_TRUE(endpoint_.listening_since());
  bus_.go_away(10s);
  EXPECT_FALSE(endpoint_.listening_since());
  loop_.run_for(9s);
  EXPECT_FALSE(endpoint_.listening_since());
  loop_.run_for(2s);
  EXPECT_EQ(endpoint_.listening_since(), loop_.now() - 1s);
}

TEST_F(SimBusAway, ItTakesNothingFromReplicas) {
  EXPECT_EQ(publish("worker.w.jobs"), bus::Published::kStored);
  bus_.go_away(1h);
  for (int i = 0; i < 10; ++i) EXPECT_NE(publish("worker.w.jobs"), bus::Published::kStored);
  bus_.come_back();
  loop_.run_for(1s);
  EXPECT_EQ(dispatches_, 1);
}

TEST_F(SimBusAway, WhatIsDurableWaitsUntilItIsBackAndTheRestIsLost) {
  auto submits = listen(bus::kSubmitSubject, "group");
  auto heartbeats = listen(bus::kHeartbeatSubject, "");
  bus_.publish(std::string(bus::kSubmitSubject), "under way");
  bus_.publish(std::string(bus::kHeartbeatSubject), "lost");
  bus_.go_away(1h);
  bus_.publish(std::string(bus::kSubmitSubject), "said to nobody");
  bus_.publish(std::string(bus::kHeartbeatSubject), "lost");
  loop_.run_for(30min);
  EXPECT_THAT(heard_, IsEmpty());
  bus_.come_back();
  loop_.run_for(1s);
  EXPECT_THAT(heard_, UnorderedElementsAre("under way", "said to nobody"));
  EXPECT_EQ(bus_.undelivered(), 0u);
}

TEST_F(SimBusAway, AnotherAbsenceDuringOneMakesItLonger) {
  bus_.go_away(10s);
  loop_.run_for(5s);
  bus_.go_away(20s);
  loop_.run_for(10s);
  EXPECT_TRUE(bus_.is_away());
  loop_.run_for(11s);
  EXPECT_FALSE(bus_.is_away());
}

}  // namespace
}  // namespace fairlead::sim
