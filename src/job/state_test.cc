#include "job/state.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fairlead::job {
namespace {

using Table = std::map<std::string, std::set<std::string>>;

// STATE-3, word for word. "" is no job yet.
const Table kSpecification = {
    {"",
     {"PENDING", "APPROVAL_REQUIRED", "SCHEDULED", "DISPATCHED", "RUNNING", "FAILED", "CANCELLED"}},
    {"PENDING",
     {"APPROVAL_REQUIRED", "SCHEDULED", "DISPATCHED", "RUNNING", "DENIED", "FAILED", "TIMEOUT",
      "SUCCEEDED", "CANCELLED", "RETRYING"}},
    {"APPROVAL_REQUIRED",
     {"PENDING", "SCHEDULED", "DISPATCHED", "RUNNING", "DENIED", "FAILED", "TIMEOUT", "SUCCEEDED",
      "CANCELLED"}},
    {"SCHEDULED",
     {"SCHEDULED", "DISPATCHED", "RUNNING", "DENIED", "FAILED", "TIMEOUT", "SUCCEEDED", "CANCELLED",
      "OUTPUT_QUARANTINED", "RETRYING"}},
    {"DISPATCHED",
     {"SCHEDULED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMEOUT", "OUTPUT_QUARANTINED",
      "RETRYING"}},
    {"RUNNING",
     {"RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMEOUT", "OUTPUT_QUARANTINED", "RETRYING"}},
    {"RETRYING",
     {"SCHEDULED", "DISPATCHED", "RUNNING", "RETRYING", "SUCCEEDED", "FAILED", "CANCELLED",
      "TIMEOUT"}},
    {"SUCCEEDED", {"OUTPUT_QUARANTINED"}},
};

// What Fairlead adds: until it has ended, a job may be denied, or need approval to go on.
const Table kAdditions = {
    {"SCHEDULED", {"APPROVAL_REQUIRED"}},
    {"DISPATCHED", {"DENIED"}},
    {"RUNNING", {"DENIED"}},
    {"RETRYING", {"APPROVAL_REQUIRED", "DENIED"}},
};

bool has(const Table& table, const std::string& from, const std::string& to) {
  auto row = table.find(from);
  return row != table.end() && row->second.contains(to);
}

TEST(State, FollowsTheTableOfTheSpecificationAndItsAdditionsForEveryPair) {
  for (State to : kAllStates) {
    EXPECT_EQ(may_follow(std::nullopt, to), has(kSpecification, "", to_string(to)))
        << "(none) -> " << to_string(to);
    for (State from : kAllStates) {
      bool expected = has(kSpecification, to_string(from), to_string(to)) ||
                      has(kAdditions, to_string(from), to_string(to));
      EXPECT_EQ(may_follow(from, to), expected) << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(State, AdditionsAreNotInTheSpecificationAlready) {
  for (const auto& [from, row] : kAdditions) {
    for (const std::string& to : row) EXPECT_FALSE(has(kSpecification, from, to)) << from << to;
  }
}

TEST(State, OnlySucceededLeavesATerminalStateAndOnlyForQuarantine) {
  for (State from : kAllStates) {
    if (!is_terminal(from)) continue;
    for (State to : kAllStates) {
      bool quarantined_late = from == State::kSucceeded && to == State::kOutputQuarantined;
      EXPECT_EQ(may_follow(from, to), quarantined_late) << to_string(from) << to_string(to);
    }
  }
}

TEST(State, SixStatesAreTerminal) {
  std::set<std::string> terminal;
  for (State state : kAllStates) {
    if (is_terminal(state)) terminal.insert(to_string(state));
  }
  EXPECT_EQ(terminal, (std::set<std::string>{"SUCCEEDED", "FAILED", "TIMEOUT", "CANCELLED",
                                             "DENIED", "OUTPUT_QUARANTINED"}));
}

TEST(State, EveryLiveStateCanFailTimeOutBeCancelledAndBeDenied) {
  for (State state : kAllStates) {
    if (is_terminal(state)) continue;
    EXPECT_TRUE(may_follow(state, State::kFailed)) << to_string(state);
    EXPECT_TRUE(may_follow(state, State::kCancelled)) << to_string(state);
    EXPECT_TRUE(may_follow(state, State::kTimeout)) << to_string(state);
    EXPECT_TRUE(may_follow(state, State::kDenied)) << to_string(state);
  }
}

TEST(State, NamesAreReadBackAndDistinct) {
  std::set<std::string> names;
  for (State state : kAllStates) {
    EXPECT_EQ(parse_state(to_string(state)), state);
    names.insert(to_string(state));
  }
  EXPECT_EQ(names.size(), kAllStates.size());
}

TEST(State, UnknownNamesAreNothing) {
  EXPECT_EQ(parse_state(""), std::nullopt);
  EXPECT_EQ(parse_state("pending"), std::nullopt);
  EXPECT_EQ(parse_state("COMPLETED"), std::nullopt);
}

TEST(State, NumbersAreStoredAndStayAsTheyAre) {
  for (size_t i = 0; i < kAllStates.size(); ++i) EXPECT_EQ(static_cast<size_t>(kAllStates[i]), i);
  EXPECT_EQ(static_cast<int>(State::kPending), 0);
  EXPECT_EQ(static_cast<int>(State::kRetrying), 5);
  EXPECT_EQ(static_cast<int>(State::kSucceeded), 6);
  EXPECT_EQ(static_cast<int>(State::kOutputQuarantined), 11);
}

}  // namespace
}  // namespace fairlead::job
