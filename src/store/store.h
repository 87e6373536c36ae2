// The store: the record of every job, and the only thing that is believed after a crash.
//
// Every call is made on the loop's thread and takes effect in call order; its future completes
// when the effect is durable, on the same thread. An error of code
//   kUnavailable  changed nothing and may be tried again,
//   kUnknown      may or may not have happened: load and look,
//   kFull         changed nothing: the disk is below its reserve and new work is refused.
// Futures may be dropped: the call happens all the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/future.h"
#include "store/change.h"

namespace fairlead::store {

template <class T>
using Answer = Future<Result<T>>;

// --- Reading -------------------------------------------------------------------------------------

struct LeaseRequest {
  std::string token;
  Duration ttl{};
};

struct LoadOptions {
  bool with_request = false;
  // Take the job's lease in the same step.
  std::optional<LeaseRequest> lease;
};

struct Loaded {
  Snapshot record;  // null: there is no such job
  std::string request;
  bool lease_taken = false;  // false when none was asked for, or another token holds it
};

struct Query {
  enum class By {
    kRecent,       // most recently changed first
    kState,        // text = state name; least recently changed first
    kTenant,       // text = tenant; live jobs
    kTrace,        // text = trace id; live and ended, oldest first
    kWorker,       // text = worker id: jobs that hold one of its slots
    kDeadline,     // deadline <= until, earliest first
    kDue,          // due <= until and in no waiting class, earliest first
    kUnpublished,  // publish_pending, dispatched_at <= until, earliest first
    kEnded,        // ended jobs, latest first
  };
  By by = By::kRecent;
  std::string text;
  WallTime until = WallTime::max();
  size_t limit = 100;
  std::string cursor;         // Page::next of the page before
  bool latest_first = false;  // of kState: most recently changed first instead
};

struct Page {
  std::vector<job::Record> records;
  std::string next;  // empty: this was the last page
};

struct Blob {
  std::string bytes;
  std::optional<WallTime> expires;
};

enum class BlobCondition { kAlways, kIfAbsent, kIfPresent };

// A message on the way: of the outbox (a commit's, to be published) or of a local bus' queue.
struct StoredMessage {
  Sequence sequence;
  Message message;
  bool queued = false;
  WallTime stored_at;
};

struct Claims {
  // From these classes, longest wait first; or, when there are none, the first of every class
  // whose fallback time has come.
  std::vector<std::string> classes;
  size_t max = 1;
};

struct WaitClassView {
  std::string wait_class;
  size_t waiting = 0;
  WallTime oldest_since;
};

// --- The contract --------------------------------------------------------------------------------

class Store {
 public:
  virtual ~Store() = default;

  virtual Answer<Loaded> load(const JobId& job, LoadOptions options) = 0;
  virtual Answer<Receipt> apply(Change change) = 0;
  virtual Answer<Page> scan(Query query) = 0;

  // Waiting. Claiming writes nothing that must survive the claimer.
  virtual Answer<std::vector<Claim>> claim(Claims claims) = 0;
  // Gives a claimed job back to its class, which the clock tries again after `pause`.
  virtual Answer<void> unclaim(const JobId& job, Duration pause) = 0;
  // The waiting classes by name, at most `limit`, from the one behind `after`.
  virtual Answer<std::vector<WaitClassView>> waiting(std::string after, size_t limit) = 0;
  // Jobs waiting in one class now, as this replica knows; no IO.
  virtual size_t waiting_in(std::string_view wait_class) const = 0;
  // Live jobs in a state now, as this replica knows; no IO.
  virtual size_t live_in(job::State state) const = 0;

  // Leases: named locks with a holder's token and a time to live. A token begins with the name of
  // its replica; leases of a replica without a sign of life may be taken.
  virtual Answer<bool> acquire(std::string key, LeaseRequest lease) = 0;
  // False: it is no longer ours.
  virtual Answer<bool> renew(std::string key, LeaseRequest lease) = 0;
  virtual Answer<void> release(std::string key, std::string token) = 0;
  virtual Answer<void> sign_of_life(std::string replica) = 0;

  // Messages. `enqueue` gives a message to the store before any handler took it.
  virtual Answer<Sequence> enqueue(Message message, WallTime now) = 0;
  virtual Answer<void> forget(std::vector<Sequence> messages) = 0;
  // Messages on the way that were stored before the given time, oldest first: whoever should have
  // published or handled them by now may be dead.
  virtual Answer<std::vector<StoredMessage>> orphans(WallTime stored_before, size_t limit) = 0;
  // A range of sequences that no one has had before, also across restarts.
  virtual Answer<Sequence> reserve_sequences(uint64_t count) = 0;

  virtual Answer<std::vector<Timer>> due_timers(WallTime now, size_t limit) = 0;

  virtual Answer<void> put_dead_letter(DeadLetter entry) = 0;
  virtual Answer<std::optional<DeadLetter>> dead_letter(const JobId& job) = 0;
  // Latest first; the cursor is the last entry's job id.
  virtual Answer<std::vector<DeadLetter>> dead_letters(std::string cursor, size_t limit) = 0;
  virtual Answer<bool> erase_dead_letter(const JobId& job) = 0;

  virtual Answer<bool> put_blob(std::string key, Blob blob, BlobCondition condition) = 0;
  virtual Answer<std::optional<Blob>> blob(std::string key) = 0;
  virtual Answer<bool> erase_blob(std::string key) = 0;

  // Adds to a shared counter and tells its new value.
  virtual Answer<int64_t> add(std::string counter, int64_t delta) = 0;

  // Drops what has outlived its time: ended jobs, dead letters, blobs, idempotency keys. Tells how
  // many things went; call again while it is not 0.
  virtual Answer<size_t> retire(WallTime now, size_t limit) = 0;
};

// The key of a job's lease.
std::string job_lease_key(const JobId& job);

// The replica a lease token belongs to: "<instance>.<nonce>" of "<instance>.<nonce>.<uuid>".
std::string_view replica_of_token(std::string_view token);

}  // namespace fairlead::store
