// The store under a data folder, on RocksDB.
//
// Memory is ahead of the disk: a call is judged by what is in memory (table.h), takes effect there
// at once, and its puts go to the committer, once per turn of the loop. Its future completes when
// they are synced. An answer that would show something not yet durable waits for it as well, so
// that nobody acts on what a crash could still undo.
//
// Only records, their requests and idempotency keys are read on the loop's thread; every other read
// goes through the committer's queue and so sees exactly the calls made before it.
//
// Of a live job memory holds only what table.h needs. Its record is one value on disk, read back
// when it is wanted and no longer at hand (record_cache.h).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/clock.h"
#include "runtime/loop.h"
#include "store/breakers.h"
#include "store/rocksdb/ended_jobs.h"
#include "store/rocksdb/operations.h"
#include "store/rocksdb/record_cache.h"
#include "store/rocksdb/rocks_options.h"
#include "store/rocksdb/time_index.h"
#include "store/store.h"
#include "store/table.h"
#include "store/values.h"

namespace fairlead::store {

class RocksStore final : public Store {
 public:
  // Opens the data folder, making it if it is missing. An error is one sentence that names the
  // folder and leaves what stands there untouched: it is in use, foreign, newer or damaged. Loop
  // and clock must outlive the store, which lives on the loop's thread.
  static Result<std::unique_ptr<RocksStore>> open(RocksOptions options, Loop& loop,
                                                  const Clock& clock);
  // Everything called so far becomes durable; futures still open never complete. Not to be called
  // by a task that the store has just resumed.
  ~RocksStore() override;

  Answer<Loaded> load(const JobId& job, LoadOptions options) override;
  Answer<Receipt> apply(Change change) override;
  Answer<Page> scan(Query query) override;
  Answer<std::vector<Claim>> claim(Claims claims) override;
  Answer<void> unclaim(const JobId& job, Duration pause) override;
  Answer<std::vector<WaitClassView>> waiting(std::string after, size_t limit) override;
  size_t waiting_in(std::string_view wait_class) const override;
  size_t jobs_in(job::State state) const override;
  Answer<Queues> queues() override;
  Answer<std::optional<JobId>> key_holder(const TenantId& tenant, std::string key) override;
  Answer<bool> acquire(std::string key, LeaseRequest lease) override;
  Answer<bool> renew(std::string key, LeaseRequest lease) override;
  Answer<void> release(std::string key, std::string token) override;
  Answer<WallTime> sign_of_life(std::string replica) override;
  Answer<Sequence> enqueue(Message message, WallTime now) override;
  Answer<void> forget(std::vector<Sequence> messages) override;
  Answer<std::vector<StoredMessage>> orphans(Duration age, size_t limit) override;
  Answer<std::vector<StoredMessage>> queued(size_t limit) override;
  Answer<std::vector<bool>> processed(std::vector<std::string> marks) override;
  Answer<Sequence> reserve_sequences(uint64_t count) override;
  Answer<std::vector<Timer>> due_timers(WallTime now, size_t limit) override;
  Answer<void> put_dead_letter(DeadLetter entry) override;
  Answer<std::optional<DeadLetter>> dead_letter(const JobId& job) override;
  Answer<std::vector<DeadLetter>> dead_letters(std::string cursor, size_t limit) override;
  Answer<bool> erase_dead_letter(const JobId& job) override;
  Answer<bool> put_blob(std::string key, Blob blob, BlobCondition condition) override;
  Answer<bool> swap_blob(std::string key, std::optional<std::string> expected, Blob blob) override;
  Answer<std::optional<Blob>> blob(std::string key, size_t max = limits::kBlobBytesMax) override;
  Answer<bool> erase_blob(std::string key) override;
  Answer<int64_t> add(std::string counter, int64_t delta) override;
  Answer<void> put_workers(Blob snapshot, std::vector<WorkerId> alive) override;
  // A breaker lasts as long as the process.
  Answer<BreakerAnswer> breaker(std::string name, BreakerEvent event, WallTime now) override;
  Answer<size_t> retire(WallTime now, size_t limit) override;

  const Table& table() const { return table_; }
  // For audits: what is on disk.
  const Database& database() const { return *database_; }
  uint64_t memory_of_rocksdb() const { return database_->memory_bytes(); }
  Committer::Statistics statistics() const { return operations_->statistics(); }
  // Operations that are not yet durable: their futures will complete.
  size_t outstanding() const { return operations_->outstanding(); }

 private:
  // In Family::kMeta: up to where sequences are set aside.
  static constexpr std::string_view kSequenceKey = "sequence";

  // An idempotency key that is not yet durable.
  struct PendingKey {
    KeyHolder holder;
    uint64_t operation = 0;
  };

  RocksStore(RocksOptions options, const Clock& clock);

  Result<void> rebuild(const Database& database);
  Result<void> rebuild_jobs(const Database& database);
  Result<void> read_ended_counts();

  Result<Snapshot> find(const JobId& job);
  bool is_durable(const JobId& job);
  Answer<Receipt> refuse(Receipt refusal, const JobId& job);
  Result<std::optional<KeyHolder>> holder_of(const std::string& key);
  void put_record(Puts& puts, const Snapshot& record, const job::Record* ended);
  void put_key(Puts& puts, const std::string& key, const job::Record& record);
  void put(Puts& puts, const DeadLetter& entry);
  static void put_blob(Puts& puts, const std::string& key, const Blob& blob);
  Sequence put(Puts& puts, Message message, bool queued, WallTime now);
  void note(Sequence sequence, bool queued, MonotonicTime since);
  void forget(Puts& puts, Sequence message);
  Answer<std::vector<StoredMessage>> read_messages(std::vector<std::string> keys);
  Sequence take_sequences(Puts& puts, uint64_t count);

  // Lets go of what was kept because it was not yet durable.
  void let_go();

  const RocksOptions options_;
  const Clock& clock_;

  Table table_;
  RecordCache records_;
  // The last one that was looked for in vain: a new job is looked for twice in a row.
  JobId absent_;
  std::unordered_map<std::string, PendingKey> pending_keys_;
  // Messages of commits, and since when each lies here, or was told as an orphan.
  std::map<Sequence, MonotonicTime> outbox_;
  std::set<Sequence> queue_;  // messages that were enqueued
  TimeIndex timers_;
  TimeIndex dead_letters_;
  std::map<std::string, int64_t> counters_;
  Breakers breakers_;
  StateCounts ended_{};    // jobs that have ended, by state
  StateCounts retired_{};  // and those of them that are gone
  uint64_t next_sequence_ = 1;
  uint64_t sequence_mark_ = 1;  // sequences below it are set aside on disk

  std::unique_ptr<Database> database_;
  std::unique_ptr<Operations> operations_;
};

}  // namespace fairlead::store
