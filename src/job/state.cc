#include "job/state.h"

#include <cstdint>
#include <initializer_list>

namespace fairlead::job {

namespace {

using enum State;

class StateSet {
 public:
  constexpr StateSet(std::initializer_list<State> states) {
    for (State state : states) bits_ |= bit(state);
  }
  constexpr bool contains(State state) const { return (bits_ & bit(state)) != 0; }

 private:
  static constexpr uint32_t bit(State state) { return 1u << static_cast<int>(state); }

  uint32_t bits_ = 0;
};

constexpr StateSet kFirst = {kPending, kApprovalRequired, kScheduled, kDispatched,
                             kRunning, kFailed,           kCancelled};

// STATE-3 of the specification, and beyond it:
//  - DENIED from wherever a worker or a repeated check may say it;
//  - APPROVAL_REQUIRED from SCHEDULED and RETRYING, where the check is repeated.
// A dispatch that is made again goes over SCHEDULED, that of a lost worker over RETRYING.
constexpr StateSet followers(State from) {
  switch (from) {
    case kPending:
      return {kApprovalRequired, kScheduled, kDispatched, kRunning,   kDenied,
              kFailed,           kTimeout,   kSucceeded,  kCancelled, kRetrying};
    case kApprovalRequired:
      return {kPending, kScheduled, kDispatched, kRunning,  kDenied,
              kFailed,  kTimeout,   kSucceeded,  kCancelled};
    case kScheduled:
      return {kApprovalRequired, kScheduled, kDispatched, kRunning,           kDenied,  kFailed,
              kTimeout,          kSucceeded, kCancelled,  kOutputQuarantined, kRetrying};
    case kDispatched:
      return {kScheduled, kRunning,           kDenied,  kFailed, kTimeout, kSucceeded,
              kCancelled, kOutputQuarantined, kRetrying};
    case kRunning:
      return {kRunning,           kDenied,  kFailed, kTimeout, kSucceeded, kCancelled,
              kOutputQuarantined, kRetrying};
    case kRetrying:
      return {kApprovalRequired, kScheduled, kDispatched, kRunning,   kDenied,
              kFailed,           kTimeout,   kSucceeded,  kCancelled, kRetrying};
    case kSucceeded:
      return {kOutputQuarantined};
    case kFailed:
    case kTimeout:
    case kCancelled:
    case kDenied:
    case kOutputQuarantined:
      return {};
  }
  return {};
}

}  // namespace

const char* to_string(State state) {
  switch (state) {
    case kPending:
      return "PENDING";
    case kApprovalRequired:
      return "APPROVAL_REQUIRED";
    case kScheduled:
      return "SCHEDULED";
    case kDispatched:
      return "DISPATCHED";
    case kRunning:
      return "RUNNING";
    case kRetrying:
      return "RETRYING";
    case kSucceeded:
      return "SUCCEEDED";
    case kFailed:
      return "FAILED";
    case kTimeout:
      return "TIMEOUT";
    case kCancelled:
      return "CANCELLED";
    case kDenied:
      return "DENIED";
    case kOutputQuarantined:
      return "OUTPUT_QUARANTINED";
  }
  return "";
}

std::optional<State> parse_state(std::string_view name) {
  for (State state : kAllStates) {
    if (name == to_string(state)) return state;
  }
  return std::nullopt;
}

bool is_terminal(State state) {
  constexpr StateSet kTerminal = {kSucceeded, kFailed, kTimeout,
                                  kCancelled, kDenied, kOutputQuarantined};
  return kTerminal.contains(state);
}

bool may_follow(std::optional<State> from, State to) {
  return from ? followers(*from).contains(to) : kFirst.contains(to);
}

}  // namespace fairlead::job
