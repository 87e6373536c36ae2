#include "job/record.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::job {
namespace {

Record in_state(State state) {
  Record record;
  record.state = state;
  return record;
}

TEST(Record, HoldsATenantSlotFromScheduledToRunning) {
  const std::set<State> holding = {State::kScheduled, State::kDispatched, State::kRunning};
  for (State state : kAllStates) {
    EXPECT_EQ(holds_tenant_slot(in_state(state)), holding.contains(state)) << to_string(state);
  }
}

TEST(Record, HoldsAWorkerSlotWhileDispatchedAndRunning) {
  const std::set<State> holding = {State::kDispatched, State::kRunning};
  for (State state : kAllStates) {
    EXPECT_EQ(holds_worker_slot(in_state(state)), holding.contains(state)) << to_string(state);
  }
}

TEST(Record, HoldsNoSlotWhileItWaitsWhateverItsState) {
  for (State state : kAllStates) {
    Record record = in_state(state);
    record.wait = Wait{.reason = ReasonCode::kNoWorkers};
    EXPECT_TRUE(is_waiting(record));
    EXPECT_FALSE(holds_tenant_slot(record)) << to_string(state);
    EXPECT_FALSE(holds_worker_slot(record)) << to_string(state);
  }
}

TEST(Record, EventsCarryTheStateAndEpochTheyHappenedIn) {
  Record record = in_state(State::kDispatched);
  record.epoch = Epoch(3);
  add_event(record, wall_time_from_micros(70), "worker-1");
  ASSERT_EQ(record.history.size(), 1u);
  EXPECT_EQ(record.history[0],
            (Event{wall_time_from_micros(70), State::kDispatched, Epoch(3), "worker-1"}));
}

TEST(Record, ALongNoteIsCut) {
  Record record;
  add_event(record, WallTime(), std::string(limits::kReasonBytesMax + 1, 'x'));
  EXPECT_EQ(record.history[0].note.size(), limits::kReasonBytesMax);
}

TEST(Record, AFullHistoryKeepsItsFirstEventAndTheNewest) {
  constexpr size_t kEvents = limits::kHistoryEventsMax + 10;
  Record record;
  for (size_t i = 0; i < kEvents; ++i) {
    add_event(record, wall_time_from_micros(static_cast<int64_t>(i)), std::to_string(i));
  }
  ASSERT_EQ(record.history.size(), limits::kHistoryEventsMax);
  EXPECT_EQ(record.history.front().note, "0");
  EXPECT_EQ(record.history[1].note, "11");
  EXPECT_EQ(record.history.back().note, std::to_string(kEvents - 1));
}

TEST(Record, RemembersWhatPolicySaidBefore) {
  Record record;
  auto at = [](int seconds) { return WallTime(std::chrono::seconds(seconds)); };
  Decision throttle{.kind = Decision::Kind::kThrottle, .reason = "later"};
  Decision allow{.kind = Decision::Kind::kAllow};
  take_decision(record, throttle, at(1));
  take_decision(record, throttle, at(2));
  EXPECT_TRUE(record.past_decisions.empty()) << "what is only said again is one";
  EXPECT_EQ(record.decision.checked_at, at(2));
  take_decision(record, allow, at(3));
  ASSERT_EQ(record.past_decisions.size(), 1u);
  EXPECT_EQ(record.past_decisions[0].kind, Decision::Kind::kThrottle);
  EXPECT_EQ(record.past_decisions[0].checked_at, at(2));
  for (int i = 4; i < 100; ++i) take_decision(record, i % 2 ? allow : throttle, at(i));
  EXPECT_EQ(record.past_decisions.size(), limits::kPastDecisionsMax);
  EXPECT_EQ(record.past_decisions.back().checked_at, at(98));
}

}  // namespace
}  // namespace fairlead::job
