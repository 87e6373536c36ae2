// A store that forgets with its process: for tests, stories and simulations. Everything it answers
// is complete at once.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/clock.h"
#include "store/breakers.h"
#include "store/recent.h"
#include "store/store.h"
#include "store/table.h"

namespace fairlead::store {

class MemoryStore : public Store {
 public:
  // Times of leases and claims are the given clock's; it must outlive the store.
  explicit MemoryStore(const Clock& clock);

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
  Answer<BreakerAnswer> breaker(std::string name, BreakerEvent event, WallTime now) override;
  Answer<size_t> retire(WallTime now, size_t limit) override;

  // For checkers: every record there is, by id.
  std::vector<job::Record> all() const;
  const Table& table() const { return table_; }
  // For checkers: messages of commits that nobody has reported as published.
  std::vector<StoredMessage> outbox() const;

 private:
  struct KeyHolder {
    JobId job;
    WallTime expires;
  };

  struct KeptMessage {
    StoredMessage message;
    MonotonicTime since;
  };

  Snapshot find(const JobId& job) const;
  RecentPart ended_latest_first(const Query& query) const;
  std::vector<job::Record> ended_in_state(const Query& query) const;
  void complete_trace(const Query& query, std::vector<job::Record>& records) const;
  Sequence keep(Message message, bool queued, WallTime now);
  void bound_dead_letters();
  bool has_blob(const std::string& key) const;

  const Clock& clock_;
  Table table_;
  std::map<JobId, Snapshot> live_;
  std::map<JobId, Snapshot> ended_;
  std::set<std::pair<WallTime, JobId>> ended_by_time_;
  std::array<size_t, job::kAllStates.size()> ended_in_{};  // by state
  std::unordered_map<std::string, std::string> requests_;
  std::map<std::pair<TenantId, std::string>, KeyHolder> idempotency_;
  std::map<Sequence, KeptMessage> messages_;
  uint64_t sequences_ = 0;
  std::map<std::string, Timer> timers_;
  std::map<JobId, DeadLetter> dead_letters_;
  std::set<std::pair<WallTime, JobId>> dead_letters_by_time_;
  std::map<std::string, Blob> blobs_;
  std::map<std::string, int64_t> counters_;
  Breakers breakers_;
};

}  // namespace fairlead::store
