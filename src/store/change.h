// A change to one job: what must still hold, what becomes true, and what goes with it. The store
// does all of it or nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/boxed.h"
#include "base/ids.h"
#include "base/time.h"
#include "job/record.h"

namespace fairlead::store {

// A record as it was committed: shared by all who look at it, changed by nobody.
using Snapshot = std::shared_ptr<const job::Record>;

// What must still hold when the change is made.
struct Guard {
  // No value: there must be no job of this id yet.
  std::optional<Revision> revision;
  // The token that must hold the job's lease; empty: the change needs no lease.
  std::string lease;
};

// A message that is published after the commit, at least once, whoever crashes.
struct Message {
  std::string subject;
  std::string payload;
  std::string id;
  std::string group;  // of a bus' queued message: the subscribers that it is for

  bool operator==(const Message&) const = default;
};

// A job that somebody should look at. One entry a job; a later one replaces it.
struct DeadLetter {
  JobId job;
  Topic topic;
  TenantId tenant;
  std::string status;  // name of the CAP status: "JOB_STATUS_FAILED"
  std::string reason;
  std::string reason_code;
  std::string last_state;
  uint32_t attempts = 0;
  WallTime created_at;

  bool operator==(const DeadLetter&) const = default;
};

// A durable alarm. The commit that acts on it removes it.
struct Timer {
  std::string key;
  WallTime at;
  std::string payload;

  bool operator==(const Timer&) const = default;
};

// One dispatch of a job, by the time it was made.
struct Ghost {
  JobId job;
  WallTime dispatched_at;
};

struct Change {
  Guard guard;

  // The record as it will be. The store sets its revision; everything else is the caller's. It is
  // made once: what is committed becomes the snapshot.
  Boxed<job::Record> next;
  // The states walked to get to next.state, in order, without the present one. Empty: the state
  // stays. Every step must be allowed by the transition table.
  std::vector<job::State> path;

  // The request's bytes, with the commit that admits the job; kept until retention drops it.
  std::optional<std::string> request;

  // How many jobs may hold the slots that this one will hold, itself included. 0: unlimited.
  uint32_t tenant_limit = 0;
  uint32_t worker_limit = 0;
  // Dispatches that hold a slot of the worker and do not count against it: it no longer has them.
  std::vector<Ghost> ghosts;

  std::optional<DeadLetter> dead_letter;
  std::vector<Message> messages;
  std::vector<Timer> timers;             // set, replacing one of the same key
  std::vector<std::string> timers_done;  // removed
  std::optional<Sequence> consumed;      // a queued bus message that this change answers
  std::string mark{};                    // the name of any other that it answers (Store::processed)
  bool was_in_flight = false;            // and it was noted as being handled (LoadOptions::mark)

  // Groups of waiting classes: with the commit, the longest waiting job of each group is claimed
  // for the caller, who knows that the change makes room for it.
  std::vector<std::vector<std::string>> claim_from;
  // The lease in the guard ends with the commit.
  bool release_lease = false;
  // Nobody waits for it: it may become durable with the next change, limits::kCommitPutOffMax later
  // at the most.
  bool may_be_put_off = false;
};

// A waiting job given to the caller to try: nobody else gets it for kClaimTtl.
struct Claim {
  JobId job;
  std::string wait_class;
  WallTime class_dispatched_at;  // when a job of the class was last dispatched, or the store opened

  bool operator==(const Claim&) const = default;
};

struct Applied {
  Snapshot record;
  std::vector<Claim> claimed;
  std::vector<Sequence> messages;  // of Change::messages, in order
};
// The guard does not hold: the record as it is now, or none. `lease_lost` when the revision would
// have fitted and only the lease did not.
struct Conflict {
  Snapshot now;
  bool lease_lost = false;
};
// A slot is not to be had: whose, and how many jobs hold it.
struct Full {
  enum class Slot { kTenant, kWorker };
  Slot slot = Slot::kTenant;
  uint32_t held = 0;
};
// The transition is not in the table: to be acknowledged, counted and logged, never retried.
struct Refused {
  std::optional<job::State> from;
  job::State to = job::State::kPending;
};
// The idempotency key belongs to another job of the tenant.
struct DuplicateKey {
  JobId holder;
};

using Receipt = std::variant<Applied, Conflict, Full, Refused, DuplicateKey>;

}  // namespace fairlead::store
