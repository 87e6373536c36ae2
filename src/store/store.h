// The store: the record of every job, and the only thing that is believed after a crash.
//
// Every call is made on the loop's thread and takes effect in call order; its future completes
// when the effect is durable, on the same thread. An error of code
//   kUnavailable  changed nothing and may be tried again,
//   kUnknown      may or may not have happened: load and look,
//   kFull         changed nothing: the disk is below its reserve and new work is refused.
// Futures may be dropped: the call happens all the same.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
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
  // The bus message for which it is loaded (bus::Delivery::in_flight_mark): noted as being handled
  // where other services may look, and nowhere else.
  std::string mark{};
  // The record as it stands, though it may not be durable yet: for who makes a change of it, which
  // becomes durable after it, and does nothing else on the strength of it.
  bool ahead = false;
};

struct Loaded {
  Snapshot record;  // null: there is no such job
  std::string request;
  bool lease_taken = false;  // false when none was asked for, or another token holds it
  bool ahead = false;        // it is not durable yet, and was asked for all the same
};

// What a job must be to be told of; what is empty does not matter. A page that leaves jobs out may
// be short, or empty, and yet not the last.
struct Only {
  std::vector<job::State> states;
  std::string tenant;
  std::string topic;
  std::string team;
  std::string worker;                // of a live job: the one whose slot it holds
  WallTime since = WallTime::min();  // when it last changed, at the earliest

  bool anything() const;
  bool takes(job::State state) const;
  bool takes(const job::Record& record) const;
};

struct Query {
  enum class By {
    kRecent,  // most recently changed first, live and ended; those that `only` takes
    kState,   // text = state name; least recently changed first
    kTenant,  // text = tenant; live jobs
    kTrace,   // text = trace id; live and ended, oldest first
    kWorker,  // text = worker id: jobs that hold one of its slots
    // What the store's own clock says is over, earliest first. A writer's clock may be wrong and
    // may be set: a time that comes with a change counts by how far it lies behind `updated_at`.
    kDeadline,     // the deadline
    kDue,          // the due time, of jobs in no waiting class
    kUnpublished,  // publish_pending, for at least `age`
    kEnded,        // ended jobs, latest first
  };
  By by = By::kRecent;
  std::string text;
  Duration age{};  // of kUnpublished
  size_t limit = 100;
  // Page::next of the page before. There is none of kDeadline, kDue and kUnpublished: what is dealt
  // with leaves, and the next come first.
  std::string cursor;
  Only only{};  // of kRecent
};

struct Page {
  std::vector<job::Record> records;
  std::string next;    // empty: this was the last page
  size_t visited = 0;  // jobs looked at for it: of kRecent at most kScanVisitsMax
};

// The live jobs of one topic and tenant.
struct Queue {
  Topic topic;
  TenantId tenant;
  std::array<size_t, job::kAllStates.size()> jobs{};  // by state
  // Since when the one that has waited longest (PENDING, SCHEDULED, RETRYING) has not moved.
  std::optional<WallTime> oldest;

  size_t in(job::State state) const { return jobs[static_cast<size_t>(state)]; }
};

struct Queues {
  std::vector<Queue> all;  // by topic and tenant
  bool complete = true;    // false: there were too many jobs to count them all
};

struct Blob {
  std::string bytes;
  std::optional<WallTime> expires;
  size_t size = 0;  // of one that was read: of the whole, of which `bytes` may be the beginning
};

// What a reader that wants at most `max` bytes is told of a blob.
Blob head_of(Blob whole, size_t max);

enum class BlobCondition { kAlways, kIfAbsent, kIfPresent };

// Where the workers that are alive are written down, as JSON.
inline constexpr std::string_view kWorkersKey = "sys:workers:snapshot";

// What a breaker is told: somebody wants to make a call, or one has ended.
enum class BreakerEvent { kAsk, kSuccess, kFailure };

struct BreakerAnswer {
  bool admitted = true;  // of kAsk: the call may be made
  // Until when none is made; in the past: a few probe. Nothing: it is closed.
  std::optional<WallTime> open_until{};

  bool operator==(const BreakerAnswer&) const = default;
};

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
  // Jobs in a state now, ended ones until they are retired, as this replica knows; no IO.
  virtual size_t jobs_in(job::State state) const = 0;
  virtual Answer<Queues> queues() = 0;

  // The job that has an idempotency key of a tenant now, if one has.
  virtual Answer<std::optional<JobId>> key_holder(const TenantId& tenant, std::string key) = 0;

  // Leases: named locks with a holder's token and a time to live. A token begins with the name of
  // its replica; leases of a replica without a sign of life may be taken.
  virtual Answer<bool> acquire(std::string key, LeaseRequest lease) = 0;
  // False: it is no longer ours.
  virtual Answer<bool> renew(std::string key, LeaseRequest lease) = 0;
  virtual Answer<void> release(std::string key, std::string token) = 0;
  // Tells the time by the store's clock, which all of its replicas go by.
  virtual Answer<WallTime> sign_of_life(std::string replica) = 0;

  // Messages. `enqueue` gives a message to the store before any handler took it.
  virtual Answer<Sequence> enqueue(Message message, WallTime now) = 0;
  virtual Answer<void> forget(std::vector<Sequence> messages) = 0;
  // Messages of commits that lie here for at least `age`, oldest first: whoever should have
  // published them by now may be dead. They are the caller's for as long again.
  virtual Answer<std::vector<StoredMessage>> orphans(Duration age, size_t limit) = 0;
  // Messages that were enqueued, oldest first.
  virtual Answer<std::vector<StoredMessage>> queued(size_t limit) = 0;
  // Of messages of the bus: whether a change has answered each (Change::mark), not too long ago.
  virtual Answer<std::vector<bool>> processed(std::vector<std::string> marks) = 0;
  // A range of sequences that no one has had before, also across restarts.
  virtual Answer<Sequence> reserve_sequences(uint64_t count) = 0;

  virtual Answer<std::vector<Timer>> due_timers(WallTime now, size_t limit) = 0;

  virtual Answer<void> put_dead_letter(DeadLetter entry) = 0;
  virtual Answer<std::optional<DeadLetter>> dead_letter(const JobId& job) = 0;
  // Latest first, from behind the cursor of an entry (cursor.h), which may be gone by now.
  virtual Answer<std::vector<DeadLetter>> dead_letters(std::string cursor, size_t limit) = 0;
  virtual Answer<bool> erase_dead_letter(const JobId& job) = 0;

  virtual Answer<bool> put_blob(std::string key, Blob blob, BlobCondition condition) = 0;
  // Puts it where the bytes are the expected ones, or where there is none if none are expected.
  virtual Answer<bool> swap_blob(std::string key, std::optional<std::string> expected,
                                 Blob blob) = 0;
  // With at most `max` of its bytes. Others may have put larger ones than we would.
  virtual Answer<std::optional<Blob>> blob(std::string key, size_t max = limits::kBlobBytesMax) = 0;
  virtual Answer<bool> erase_blob(std::string key) = 0;

  // Adds to a shared counter and tells its new value.
  virtual Answer<int64_t> add(std::string counter, int64_t delta) = 0;

  // Puts the workers that are alive under kWorkersKey, and their ids beside it for services that
  // count them.
  virtual Answer<void> put_workers(Blob snapshot, std::vector<WorkerId> alive) = 0;

  // A circuit breaker (base/breaker.h) that all replicas share.
  virtual Answer<BreakerAnswer> breaker(std::string name, BreakerEvent event, WallTime now) = 0;

  // When the store last may have lost what it had acknowledged, as a server that failed over may:
  // a record that was written before may have been written again since. No IO.
  virtual WallTime rewound_at() const { return WallTime(); }

  // Drops what has outlived its time: ended jobs, dead letters, blobs, idempotency keys. Tells how
  // many things went, without those that went by themselves; call again while it is not 0.
  virtual Answer<size_t> retire(WallTime now, size_t limit) = 0;
};

// The key that says that a message of the bus is processed.
std::string processed_key(const std::string& mark);

// The key of a job's lease.
std::string job_lease_key(const JobId& job);

// The replica a lease token belongs to: "<instance>.<nonce>" of "<instance>.<nonce>.<uuid>".
std::string_view replica_of_token(std::string_view token);

}  // namespace fairlead::store
