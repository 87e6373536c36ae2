#include "sim/sim_bus.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SimBusTest : public testing::Test {
 protected:
  SimBusTest() {
    bus_.on_dispatch = [](const std::string&, const std::string&) {};
    bus_.on_dead_letter = [](const std::string&) {};
    bus_.on_result_answered = [](const std::string&) {};
    bus_.on_lost = [this](const std::string&, const std::string& packet) {
      lost_.push_back(packet);
    };
    bus_.connect_worker("worker.w.jobs", [this](std::string) { ++dispatches_; });
  }

  std::unique_ptr<bus::Subscription> listen(std::string_view subject, std::string queue) {
    return *endpoint_.subscribe(std::string(subject), {.queue = std::move(queue)},
                                [this](bus::Delivery delivery) -> Task<bus::Verdict> {
                                  places_.emplace_back(delivery.sequence, delivery.mark);
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
  BusEndpoint endpoint_{bus_, process_, [this] { ++crashes_; }};
  std::vector<std::string> heard_;
  std::vector<std::pair<Sequence, std::string>> places_;  // of what was heard
  std::vector<std::string> lost_;
  int dispatches_ = 0;
  int crashes_ = 0;
};

TEST_F(SimBusTest, AReplicaMayDieAtAnyPublish) {
  options_.bus_crash = 1;
  int crashes = 0;
  for (std::string_view subject : {std::string_view("worker.w.jobs"), bus::kDeadLetterSubject,
                                   bus::kCancelSubject, bus::kHandshakeSubject}) {
    EXPECT_EQ(publish(std::string(subject)), std::nullopt) << subject;
    EXPECT_EQ(crashes_, ++crashes) << subject;
  }
}

TEST_F(SimBusTest, AStreamStoresNoIdTwiceWithinTheWindow) {
  options_.stream = true;
  auto listener = listen(bus::kCancelSubject, "");
  EXPECT_EQ(publish(std::string(bus::kCancelSubject)), bus::Published::kStored);
  EXPECT_EQ(publish(std::string(bus::kCancelSubject)), bus::Published::kStored);
  EXPECT_EQ(bus_.undelivered(), 1u);
  EXPECT_EQ(heard_.size(), 2u) << "who listens hears a repeat";
  loop_.run_for(limits::kDuplicateWindow);
  publish(std::string(bus::kCancelSubject));
  EXPECT_EQ(bus_.undelivered(), 2u);
}

TEST_F(SimBusTest, AStreamThatLosesItsEndForgetsTheIds) {
  options_.stream = true;
  publish(std::string(bus::kCancelSubject));
  bus_.lose_end_of_stream(10s);
  EXPECT_EQ(bus_.undelivered(), 0u);
  publish(std::string(bus::kCancelSubject));
  EXPECT_EQ(bus_.undelivered(), 1u);
}

TEST_F(SimBusTest, ReplicasKnowThatItIsAwayAndSinceWhenItIsBack) {
  EXPECT_TRUE(endpoint_.listening_since());
  bus_.go_away(10s);
  EXPECT_FALSE(endpoint_.listening_since());
  loop_.run_for(9s);
  EXPECT_FALSE(endpoint_.listening_since());
  loop_.run_for(2s);
  EXPECT_EQ(endpoint_.listening_since(), loop_.now() - 1s);
}

TEST_F(SimBusTest, AwayItTakesNothingFromReplicas) {
  EXPECT_EQ(publish("worker.w.jobs"), bus::Published::kStored);
  bus_.go_away(1h);
  for (int i = 0; i < 10; ++i) EXPECT_NE(publish("worker.w.jobs"), bus::Published::kStored);
  bus_.come_back();
  loop_.run_for(1s);
  EXPECT_EQ(dispatches_, 1);
}

TEST_F(SimBusTest, WhatIsDurableWaitsUntilItIsBackAndTheRestIsLost) {
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

TEST_F(SimBusTest, AnotherAbsenceDuringOneMakesItLonger) {
  bus_.go_away(10s);
  loop_.run_for(5s);
  bus_.go_away(20s);
  loop_.run_for(10s);
  EXPECT_TRUE(bus_.is_away());
  loop_.run_for(11s);
  EXPECT_FALSE(bus_.is_away());
}

TEST_F(SimBusTest, AStreamThatLosesItsEndGivesNumbersAgainAndForgetsAcknowledgements) {
  options_.stream = true;
  options_.stream_losses = 1;
  auto submit = [&](std::string packet) {
    bus_.publish(std::string(bus::kSubmitSubject), std::move(packet));
  };
  submit("kept");
  loop_.run_for(2s);
  submit("lost");
  auto listens = listen(bus::kSubmitSubject, "group");
  bus_.lose_end_of_stream(1s);
  loop_.run_for(2s);
  EXPECT_THAT(lost_, ElementsAre("lost"));
  EXPECT_THAT(heard_, ElementsAre("kept"));
  submit("next");
  loop_.run_for(1s);
  ASSERT_THAT(heard_, ElementsAre("kept", "next"));
  EXPECT_EQ(places_[1].first, Sequence(2)) << "the number of what was lost";

  // Both were acknowledged in the last five seconds; one of them came before that.
  loop_.run_for(2s);
  bus_.lose_end_of_stream(5s);
  loop_.run_for(1s);
  EXPECT_THAT(heard_, ElementsAre("kept", "next", "kept"));
  EXPECT_EQ(places_[2], places_[0]) << "it is known by its mark";
  EXPECT_EQ(bus_.undelivered(), 0u);
}

TEST_F(SimBusTest, AStreamThatLosesItsEndNoLongerHasTheLastDispatches) {
  options_.stream = true;
  auto stored = [&] { return *endpoint_.stored("worker.w.jobs", "id").await_resume(); };
  EXPECT_EQ(stored(), false);
  EXPECT_EQ(publish("worker.w.jobs"), bus::Published::kStored);
  EXPECT_EQ(stored(), true);
  bus_.lose_end_of_stream(500ms);
  EXPECT_EQ(stored(), true);
  bus_.lose_end_of_stream(10s);
  EXPECT_EQ(stored(), false);
}

}  // namespace
}  // namespace fairlead::sim
