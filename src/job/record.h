// The record of a job: all that the store keeps of it, beside the bytes of its request.
//
// It is a plain value. Decisions read it and make the next one; a store writes it under a guard
// (store/change.h) and derives indexes and slots from it, so nothing here has to be kept in step
// with anything else by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "job/reason.h"
#include "job/state.h"

namespace fairlead::job {

// One line of a job's history.
struct Event {
  WallTime at;
  State state = State::kPending;
  Epoch epoch;
  std::string note;  // a reason code, a worker, a dispatch phase; may be empty

  bool operator==(const Event&) const = default;
};

// What the policy said, as far as the scheduler acts on it.
struct Decision {
  // Records are stored with these numbers (job/codec.h): a new kind goes to the end.
  enum class Kind {
    kNone,
    kAllow,
    kAllowWithConstraints,
    kDeny,
    kRequireApproval,
    kThrottle,
    kUnavailable,
    kUnknown,
  };

  Kind kind = Kind::kNone;
  std::string reason;
  std::string rule_id;
  std::string policy_snapshot;
  std::string constraints;  // serialised cordum.agent.v1.PolicyConstraints; empty means none
  WallTime checked_at;

  bool operator==(const Decision&) const = default;
};

// A person allowed what policy had asked about: this content, under this policy, to be handed out
// once.
struct Approval {
  std::string job_hash;
  std::string policy_snapshot;
  std::string by;

  bool operator==(const Approval&) const = default;
};

// What a job waits for. Attempts made while it waits are not written: they follow from `since`
// (job/backoff.h) until its next commit.
struct Wait {
  ReasonCode reason = ReasonCode::kNone;
  std::string detail;
  // Jobs of one class wait for the same thing: a tenant's limit, or a worker of the same pools and
  // placement labels. Empty: it waits for its due time alone.
  std::string wait_class;
  WallTime since;
  // Its place among those of its class, longest first: other than `since` it stays when the reason
  // changes. None in records that are older than it.
  WallTime queued_at{};

  bool operator==(const Wait&) const = default;
};

// An earlier epoch that may have reached its worker: its result still counts.
struct OpenEpoch {
  Epoch epoch;
  WorkerId worker;

  bool operator==(const OpenEpoch&) const = default;
};

// A place in what a bus has stored, by the bus' own numbers and clock.
struct BusPlace {
  Sequence sequence;
  WallTime stored_at;

  // A stream that was made anew counts from the beginning: its messages are newer all the same.
  bool is_after(const BusPlace& other) const {
    const bool timed = other.stored_at != WallTime();  // not so in records of earlier versions
    return sequence > other.sequence || (timed && stored_at > other.stored_at);
  }
  bool operator==(const BusPlace&) const = default;
};

struct Record {
  JobId id;
  State state = State::kPending;
  Revision revision;

  Topic topic;
  TenantId tenant;
  std::string team;
  std::string principal;
  TraceId trace;
  std::string workflow_id;
  std::string idempotency_key;
  int32_t priority = 0;
  std::string request_hash;  // of the content submitted; a resubmission must match it

  WallTime created_at;
  WallTime updated_at;
  std::optional<WallTime> deadline;  // fixed at admission
  std::optional<WallTime> due;       // when the scheduler must look at it again

  Epoch epoch;
  WorkerId assignee;                      // worker of the current epoch
  WallTime dispatched_at;                 // of the current epoch
  std::optional<WallTime> first_sign_at;  // its worker told of progress
  // The epoch is committed and not yet known to be handed to the bus. The message is rebuilt from
  // record and request.
  bool publish_pending = false;
  std::vector<OpenEpoch> open_epochs;
  bool worker_lost = false;  // the assignee expired while the job was with it

  uint32_t attempts = 0;  // +1 on entering SCHEDULED, on a rollback into it and on each failed try
  uint32_t deliveries = 0;  // epochs really handed to a worker; max_retries is measured by it

  Decision decision;                     // the last one
  std::vector<Decision> past_decisions;  // those before it, oldest first
  std::optional<Approval> approval;      // until it was handed to a worker
  std::optional<Wait> wait;

  BusPlace last_result;   // the last result taken
  BusPlace results_seen;  // by who dispatched the current epoch, before it did
  std::string result_ptr;
  ReasonCode reason = ReasonCode::kNone;  // why it ended; kNone for success
  std::string error_code;                 // the code shown: the reason's text, or the worker's own
  int32_t error_number = 0;               // cordum.agent.v1.ErrorCode: the worker's, or the code's
  std::string error_message;
  int64_t execution_ms = 0;

  std::vector<Event> history;

  bool operator==(const Record&) const = default;
};

inline bool is_waiting(const Record& record) {
  return record.wait.has_value();
}

inline WallTime place_in_line(const Wait& wait) {
  return wait.queued_at == WallTime() ? wait.since : wait.queued_at;
}

// Whether the time that it waits makes attempts: not while policy cannot be asked.
inline bool makes_attempts(const Wait& wait) {
  return wait.reason != ReasonCode::kSafetyUnavailable;
}

// A waiting job holds no slot, whatever its state.
bool holds_tenant_slot(const Record& record);
bool holds_worker_slot(const Record& record);

// Keeps the current epoch among the open ones, in place of the oldest when there are too many.
void open_epoch(Record& record);

// What policy says now; a few of what it said before are kept. What is only said again is one.
void take_decision(Record& record, Decision decision, WallTime now);

// Adds an event, dropping the oldest but the first when the history is full. A long note is cut.
void add_event(Record& record, WallTime at, std::string note);

}  // namespace fairlead::job
