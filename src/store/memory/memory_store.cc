#include "store/memory/memory_store.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "store/cursor.h"

namespace fairlead::store {

// Among what is over, by time: what stands below it is behind the position.
static std::pair<WallTime, JobId> first_before(const Position& position) {
  if (position.ended) return {position.at, JobId(position.id)};
  return {position.at + Duration(1), JobId()};
}

MemoryStore::MemoryStore(const Clock& clock) : clock_(clock), table_(clock.wall()) {}

Snapshot MemoryStore::find(const JobId& job) const {
  if (auto found = live_.find(job); found != live_.end()) return found->second;
  if (auto found = ended_.find(job); found != ended_.end()) return found->second;
  return nullptr;
}

Answer<Loaded> MemoryStore::load(const JobId& job, LoadOptions options) {
  Loaded loaded;
  if (options.lease) {
    loaded.lease_taken =
        table_.leases().acquire(job_lease_key(job), *options.lease, clock_.monotonic());
  }
  loaded.record = find(job);
  if (options.with_request) {
    if (auto found = requests_.find(job.str()); found != requests_.end()) {
      loaded.request = found->second;
    }
  }
  return loaded;
}

Answer<Receipt> MemoryStore::apply(Change change) {
  MonotonicTime now = clock_.monotonic();
  Snapshot old = find(change.next->id);
  Table::Before before;
  if (old) before = {old->state, old->revision};
  if (auto refusal = table_.refusal(change, before, now)) {
    if (auto* conflict = std::get_if<Conflict>(&*refusal); conflict) conflict->now = old;
    return *std::move(refusal);
  }
  job::Record& next = *change.next;
  if (!old && !next.idempotency_key.empty()) {
    KeyHolder& holder = idempotency_[{next.tenant, next.idempotency_key}];
    if (!holder.job.empty() && holder.expires > next.updated_at) {
      return Receipt(DuplicateKey{holder.job});
    }
    holder = {next.id, next.updated_at + limits::kIdempotencyTtl};
  }

  next.revision = before.revision.next();
  Applied applied;
  table_.follow(next, now);
  if (change.request) requests_[next.id.str()] = *std::move(change.request);
  if (change.dead_letter) (void)put_dead_letter(*std::move(change.dead_letter));
  for (Message& message : change.messages) {
    applied.messages.push_back(keep(std::move(message), false, next.updated_at));
  }
  for (Timer& timer : change.timers) timers_[timer.key] = std::move(timer);
  for (const std::string& key : change.timers_done) timers_.erase(key);
  if (change.consumed) messages_.erase(*change.consumed);
  if (!change.mark.empty()) {
    blobs_[processed_key(change.mark)] = {"1", next.updated_at + limits::kProcessedTtl};
  }
  if (change.release_lease) {
    table_.leases().release(job_lease_key(next.id), change.guard.lease);
  }
  applied.claimed = table_.claim_each(change.claim_from, now);
  Snapshot record = std::move(change.next).seal();
  if (job::is_terminal(record->state)) {
    if (old && job::is_terminal(old->state)) {
      ended_by_time_.erase({old->updated_at, record->id});
      --ended_in_[static_cast<size_t>(old->state)];
    }
    ++ended_in_[static_cast<size_t>(record->state)];
    live_.erase(record->id);
    ended_by_time_.emplace(record->updated_at, record->id);
    ended_[record->id] = record;
  } else {
    live_[record->id] = record;
  }
  applied.record = std::move(record);
  return Receipt(std::move(applied));
}

// Latest first, behind the cursor. Only those count as visited that an index would lead to.
RecentPart MemoryStore::ended_latest_first(const Query& query) const {
  Only indexed = query.only;
  indexed.team.clear();
  auto from = ended_by_time_.rbegin();
  if (auto behind = parse_cursor(query.cursor)) {
    from = std::make_reverse_iterator(ended_by_time_.lower_bound(first_before(*behind)));
  }
  RecentPart part;
  for (; from != ended_by_time_.rend() && from->first >= query.only.since; ++from) {
    const job::Record& record = *ended_.at(from->second);
    if (!indexed.takes(record)) continue;
    ++part.visited;
    if (query.only.takes(record)) part.records.push_back(record);
    if (part.records.size() < query.limit && part.visited < limits::kScanVisitsMax) continue;
    part.stopped = position_of(record, query.by);
    break;
  }
  return part;
}

std::vector<job::Record> MemoryStore::ended_in_state(const Query& query) const {
  auto from = ended_by_time_.begin();
  if (auto behind = parse_cursor(query.cursor)) {
    from = ended_by_time_.upper_bound({behind->at, JobId(behind->id)});
  }
  std::vector<job::Record> records;
  for (; from != ended_by_time_.end() && records.size() < query.limit; ++from) {
    const job::Record& record = *ended_.at(from->second);
    if (query.text == job::to_string(record.state)) records.push_back(record);
  }
  return records;
}

// Adds the ended ones to the live ones, oldest first, behind the cursor.
void MemoryStore::complete_trace(const Query& query, std::vector<job::Record>& records) const {
  for (const auto& [at, job] : ended_by_time_) records.push_back(*ended_.at(job));
  auto behind = parse_cursor(query.cursor);
  auto order = [](const job::Record& record) { return std::tie(record.created_at, record.id); };
  JobId last(behind ? behind->id : "");
  std::erase_if(records, [&](const job::Record& record) {
    return record.trace.str() != query.text ||
           (behind && order(record) <= std::tie(behind->at, last));
  });
  std::ranges::sort(records, {}, order);
}

Answer<Page> MemoryStore::scan(Query query) {
  Page page;
  query.limit = std::min(query.limit, limits::kScanMax);
  Table::Scanned live = table_.scan(query, clock_.monotonic());
  for (const JobId& job : live.jobs) page.records.push_back(*live_.at(job));
  if (query.by == Query::By::kRecent) {
    std::erase_if(page.records,
                  [&](const job::Record& record) { return !query.only.takes(record); });
    return merge_recent({std::move(page.records), live.visited, std::move(live.stopped)},
                        ended_latest_first(query), query.limit);
  }
  if (query.by == Query::By::kTrace) complete_trace(query, page.records);
  if (query.by == Query::By::kEnded) page.records = ended_latest_first(query).records;
  if (query.by == Query::By::kState && page.records.empty()) page.records = ended_in_state(query);
  if (page.records.size() < query.limit || !is_paged(query.by)) return page;
  page.records.resize(query.limit);
  if (!page.records.empty()) page.next = to_cursor(position_of(page.records.back(), query.by));
  return page;
}

Answer<std::vector<Claim>> MemoryStore::claim(Claims claims) {
  return table_.claim(claims, clock_.monotonic());
}

Answer<void> MemoryStore::unclaim(const JobId& job, Duration pause) {
  table_.unclaim(job, clock_.monotonic() + pause);
  return Result<void>{};
}

Answer<std::vector<WaitClassView>> MemoryStore::waiting(std::string after, size_t limit) {
  return table_.waiting().list(after, limit);
}

size_t MemoryStore::waiting_in(std::string_view wait_class) const {
  return table_.waiting().waiting_in(wait_class);
}

size_t MemoryStore::jobs_in(job::State state) const {
  return job::is_terminal(state) ? ended_in_[static_cast<size_t>(state)] : table_.size(state);
}

Answer<Queues> MemoryStore::queues() {
  return Queues{table_.queues(), true};
}

Answer<std::optional<JobId>> MemoryStore::key_holder(const TenantId& tenant, std::string key) {
  auto found = idempotency_.find({tenant, std::move(key)});
  if (found == idempotency_.end() || found->second.expires <= clock_.wall()) {
    return std::optional<JobId>{};
  }
  return std::optional(found->second.job);
}

Answer<bool> MemoryStore::acquire(std::string key, LeaseRequest lease) {
  return table_.leases().acquire(key, lease, clock_.monotonic());
}

Answer<bool> MemoryStore::renew(std::string key, LeaseRequest lease) {
  return table_.leases().renew(key, lease, clock_.monotonic());
}

Answer<void> MemoryStore::release(std::string key, std::string token) {
  table_.leases().release(key, token);
  return Result<void>{};
}

Answer<WallTime> MemoryStore::sign_of_life(std::string replica) {
  table_.leases().sign_of_life(replica, clock_.monotonic());
  return clock_.wall();
}

Sequence MemoryStore::keep(Message message, bool queued, WallTime now) {
  Sequence sequence(++sequences_);
  messages_[sequence] = {{sequence, std::move(message), queued, now}, clock_.monotonic()};
  return sequence;
}

Answer<Sequence> MemoryStore::enqueue(Message message, WallTime now) {
  return keep(std::move(message), true, now);
}

Answer<void> MemoryStore::forget(std::vector<Sequence> messages) {
  for (Sequence sequence : messages) {
    messages_.erase(sequence);
  }
  return Result<void>{};
}

Answer<std::vector<StoredMessage>> MemoryStore::orphans(Duration age, size_t limit) {
  const MonotonicTime now = clock_.monotonic();
  std::vector<StoredMessage> found;
  for (auto& [sequence, kept] : messages_) {
    if (found.size() == limit) break;
    if (kept.message.queued || kept.since > now - age) continue;
    kept.since = now;
    found.push_back(kept.message);
  }
  return found;
}

std::vector<StoredMessage> MemoryStore::outbox() const {
  std::vector<StoredMessage> found;
  for (const auto& [sequence, kept] : messages_) {
    if (!kept.message.queued) found.push_back(kept.message);
  }
  return found;
}

Answer<std::vector<bool>> MemoryStore::processed(std::vector<std::string> marks) {
  std::vector<bool> found;
  for (const std::string& mark : marks) found.push_back(has_blob(processed_key(mark)));
  return found;
}

Answer<std::vector<StoredMessage>> MemoryStore::queued(size_t limit) {
  std::vector<StoredMessage> found;
  for (const auto& [sequence, kept] : messages_) {
    if (found.size() == limit) break;
    if (kept.message.queued) found.push_back(kept.message);
  }
  return found;
}

Answer<Sequence> MemoryStore::reserve_sequences(uint64_t count) {
  Sequence first(sequences_ + 1);
  sequences_ += count;
  return first;
}

Answer<std::vector<Timer>> MemoryStore::due_timers(WallTime now, size_t limit) {
  std::vector<Timer> due;
  for (const auto& [key, timer] : timers_) {
    if (timer.at <= now) due.push_back(timer);
  }
  std::ranges::sort(due, {}, [](const Timer& timer) { return std::pair(timer.at, timer.key); });
  if (due.size() > limit) due.resize(limit);
  return due;
}

Answer<void> MemoryStore::put_dead_letter(DeadLetter entry) {
  if (auto old = dead_letters_.find(entry.job); old != dead_letters_.end()) {
    dead_letters_by_time_.erase({old->second.created_at, entry.job});
  }
  dead_letters_by_time_.emplace(entry.created_at, entry.job);
  dead_letters_[entry.job] = std::move(entry);
  bound_dead_letters();
  return Result<void>{};
}

void MemoryStore::bound_dead_letters() {
  while (dead_letters_.size() > limits::kDlqEntriesMax) {
    dead_letters_.erase(dead_letters_by_time_.begin()->second);
    dead_letters_by_time_.erase(dead_letters_by_time_.begin());
  }
}

Answer<std::optional<DeadLetter>> MemoryStore::dead_letter(const JobId& job) {
  auto found = dead_letters_.find(job);
  if (found == dead_letters_.end()) return std::optional<DeadLetter>{};
  return std::optional(found->second);
}

Answer<std::vector<DeadLetter>> MemoryStore::dead_letters(std::string cursor, size_t limit) {
  std::vector<DeadLetter> page;
  auto from = dead_letters_by_time_.rbegin();
  if (auto behind = parse_cursor(cursor)) {
    from = std::make_reverse_iterator(dead_letters_by_time_.lower_bound(first_before(*behind)));
  }
  for (; from != dead_letters_by_time_.rend() && page.size() < limit; ++from) {
    page.push_back(dead_letters_.at(from->second));
  }
  return page;
}

Answer<bool> MemoryStore::erase_dead_letter(const JobId& job) {
  auto found = dead_letters_.find(job);
  if (found == dead_letters_.end()) return false;
  dead_letters_by_time_.erase({found->second.created_at, job});
  dead_letters_.erase(found);
  return true;
}

Answer<bool> MemoryStore::put_blob(std::string key, Blob blob, BlobCondition condition) {
  bool present = has_blob(key);
  if (condition == BlobCondition::kIfAbsent && present) return false;
  if (condition == BlobCondition::kIfPresent && !present) return false;
  blobs_[std::move(key)] = std::move(blob);
  return true;
}

Answer<bool> MemoryStore::swap_blob(std::string key, std::optional<std::string> expected,
                                    Blob blob) {
  const bool present = has_blob(key);
  if (present != expected.has_value() || (present && blobs_.at(key).bytes != *expected)) {
    return false;
  }
  blobs_[std::move(key)] = std::move(blob);
  return true;
}

Answer<std::optional<Blob>> MemoryStore::blob(std::string key, size_t max) {
  if (!has_blob(key)) return std::optional<Blob>{};
  return std::optional(head_of(blobs_.at(key), max));
}

Answer<bool> MemoryStore::erase_blob(std::string key) {
  bool present = has_blob(key);
  blobs_.erase(key);
  return present;
}

bool MemoryStore::has_blob(const std::string& key) const {
  auto found = blobs_.find(key);
  return found != blobs_.end() &&
         !(found->second.expires && *found->second.expires <= clock_.wall());
}

Answer<int64_t> MemoryStore::add(std::string counter, int64_t delta) {
  return counters_[std::move(counter)] += delta;
}

Answer<void> MemoryStore::put_workers(Blob snapshot, std::vector<WorkerId>) {
  blobs_[std::string(kWorkersKey)] = std::move(snapshot);
  return Result<void>{};
}

Answer<BreakerAnswer> MemoryStore::breaker(std::string name, BreakerEvent event, WallTime now) {
  return breakers_.tell(name, event, now);
}

Answer<size_t> MemoryStore::retire(WallTime now, size_t limit) {
  size_t gone = 0;
  while (gone < limit && !ended_by_time_.empty() &&
         ended_by_time_.begin()->first + limits::kEndedJobTtl <= now) {
    const JobId job = ended_by_time_.begin()->second;
    --ended_in_[static_cast<size_t>(ended_.at(job)->state)];
    requests_.erase(job.str());
    ended_.erase(job);
    ended_by_time_.erase(ended_by_time_.begin());
    ++gone;
  }
  while (gone < limit && !dead_letters_by_time_.empty() &&
         dead_letters_by_time_.begin()->first + limits::kDlqEntryTtl <= now) {
    dead_letters_.erase(dead_letters_by_time_.begin()->second);
    dead_letters_by_time_.erase(dead_letters_by_time_.begin());
    ++gone;
  }
  for (auto it = blobs_.begin(); it != blobs_.end() && gone < limit;) {
    bool over = it->second.expires && *it->second.expires <= now;
    gone += over;
    it = over ? blobs_.erase(it) : std::next(it);
  }
  for (auto it = idempotency_.begin(); it != idempotency_.end() && gone < limit;) {
    bool over = it->second.expires <= now;
    gone += over;
    it = over ? idempotency_.erase(it) : std::next(it);
  }
  return gone;
}

std::vector<job::Record> MemoryStore::all() const {
  std::vector<job::Record> records;
  for (const auto& [job, record] : live_) records.push_back(*record);
  for (const auto& [job, record] : ended_) records.push_back(*record);
  std::ranges::sort(records, {}, &job::Record::id);
  return records;
}

}  // namespace fairlead::store
