// The states of a job and the one table that says which may follow which. Every store asks it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::job {

// Records are stored with these numbers (job/codec.h): a new state goes to the end.
enum class State : uint8_t {
  kPending,
  kApprovalRequired,
  kScheduled,
  kDispatched,
  kRunning,
  kRetrying,
  kSucceeded,
  kFailed,
  kTimeout,
  kCancelled,
  kDenied,
  kOutputQuarantined,
};

inline constexpr std::array kAllStates = {
    State::kPending, State::kApprovalRequired, State::kScheduled, State::kDispatched,
    State::kRunning, State::kRetrying,         State::kSucceeded, State::kFailed,
    State::kTimeout, State::kCancelled,        State::kDenied,    State::kOutputQuarantined,
};

// The name on the wire and in stores: "PENDING", "APPROVAL_REQUIRED", …
const char* to_string(State state);
std::optional<State> parse_state(std::string_view name);

// Nothing leaves a terminal state, but SUCCEEDED may still become OUTPUT_QUARANTINED.
bool is_terminal(State state);

// Whether `to` may follow `from`; no `from` means that there is no job yet. A state may follow
// itself only where the table says so.
bool may_follow(std::optional<State> from, State to);

}  // namespace fairlead::job
