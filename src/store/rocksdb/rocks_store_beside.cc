// The store's calls for what lies beside the jobs.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/limits.h"
#include "store/cursor.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/reading.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::store {

namespace {

bool is_over(const std::optional<WallTime>& expires, WallTime now) {
  return expires && *expires <= now;
}

Result<std::optional<Blob>> read_blob(const Database& database, const std::string& key,
                                      WallTime now) {
  auto blobs = read_values(database, Family::kBlob, {key}, decode_blob);
  if (!blobs) return std::unexpected(blobs.error());
  if (blobs->empty() || is_over(blobs->front().expires, now)) return std::optional<Blob>{};
  return std::optional(std::move(blobs->front()));
}

Result<bool> blob_present(const Database& database, const std::string& key, WallTime now) {
  auto bytes = database.get(Family::kBlob, key);
  if (!bytes) return std::unexpected(bytes.error());
  if (!*bytes) return false;
  auto expires = decode_blob_expiry(**bytes);
  if (!expires) return std::unexpected(expires.error());
  return !is_over(*expires, now);
}

}  // namespace

// --- Messages and timers -------------------------------------------------------------------------

Sequence RocksStore::take_sequences(Puts& puts, uint64_t count) {
  Sequence first(next_sequence_);
  next_sequence_ += count;
  if (next_sequence_ > sequence_mark_) {
    sequence_mark_ = next_sequence_ + limits::kSequenceBlock;
    puts.put(Family::kMeta, kSequenceKey, number_key(sequence_mark_));
  }
  return first;
}

Sequence RocksStore::put(Puts& puts, Message message, bool queued, WallTime now) {
  Sequence sequence = take_sequences(puts, 1);
  note(sequence, queued, clock_.monotonic());
  puts.put(Family::kMessage, number_key(sequence.value()),
           encode(StoredMessage{sequence, std::move(message), queued, now}));
  return sequence;
}

void RocksStore::note(Sequence sequence, bool queued, MonotonicTime since) {
  if (queued) {
    queue_.insert(sequence);
  } else {
    outbox_.emplace(sequence, since);
  }
}

void RocksStore::forget(Puts& puts, Sequence message) {
  if (queue_.erase(message) + outbox_.erase(message) > 0) {
    puts.erase(Family::kMessage, number_key(message.value()));
  }
}

Answer<Sequence> RocksStore::enqueue(Message message, WallTime now) {
  if (auto refusal = operations_->push_back(true)) return std::unexpected(*std::move(refusal));
  size_t bytes = message.payload.size();
  Sequence sequence = put(operations_->puts(), std::move(message), true, now);
  return operations_->when_durable<Sequence>(sequence, bytes);
}

Answer<void> RocksStore::forget(std::vector<Sequence> messages) {
  Puts& puts = operations_->puts();
  for (Sequence sequence : messages) forget(puts, sequence);
  return operations_->when_durable<void>({});
}

Answer<std::vector<StoredMessage>> RocksStore::orphans(Duration age, size_t limit) {
  const MonotonicTime now = clock_.monotonic();
  std::vector<std::string> found;
  for (auto& [sequence, since] : outbox_) {
    if (found.size() == limit) break;
    if (since > now - age) continue;
    since = now;
    found.push_back(number_key(sequence.value()));
  }
  return read_messages(std::move(found));
}

Answer<std::vector<StoredMessage>> RocksStore::queued(size_t limit) {
  std::vector<std::string> found;
  for (Sequence sequence : queue_) {
    if (found.size() == limit) break;
    found.push_back(number_key(sequence.value()));
  }
  return read_messages(std::move(found));
}

Answer<std::vector<StoredMessage>> RocksStore::read_messages(std::vector<std::string> keys) {
  if (keys.empty()) return std::vector<StoredMessage>{};
  return operations_->in_order([keys = std::move(keys)](const Database& database, Puts&) {
    return read_values(database, Family::kMessage, keys, decode_message);
  });
}

Answer<std::vector<bool>> RocksStore::processed(std::vector<std::string> marks) {
  using Found = std::vector<bool>;
  return operations_->in_order([marks = std::move(marks), now = clock_.wall()](
                                   const Database& database, Puts&) -> Result<Found> {
    Found found;
    for (const std::string& mark : marks) {
      auto present = blob_present(database, processed_key(mark), now);
      if (!present) return std::unexpected(present.error());
      found.push_back(*present);
    }
    return found;
  });
}

Answer<Sequence> RocksStore::reserve_sequences(uint64_t count) {
  return operations_->when_durable<Sequence>(take_sequences(operations_->puts(), count));
}

Answer<std::vector<Timer>> RocksStore::due_timers(WallTime now, size_t limit) {
  std::vector<std::string> due = timers_.until(now, limit);
  if (due.empty()) return std::vector<Timer>{};
  return operations_->in_order([due = std::move(due)](const Database& database, Puts&) {
    return read_values(database, Family::kTimer, due, decode_timer);
  });
}

// --- Dead letters --------------------------------------------------------------------------------

void RocksStore::put(Puts& puts, const DeadLetter& entry) {
  dead_letters_.set(entry.job.str(), entry.created_at);
  puts.put(Family::kDeadLetter, entry.job.str(), encode(entry));
  while (dead_letters_.size() > options_.dead_letters_max) {
    std::string oldest = dead_letters_.until(WallTime::max(), 1).front();
    dead_letters_.erase(oldest);
    puts.erase(Family::kDeadLetter, oldest);
  }
}

Answer<void> RocksStore::put_dead_letter(DeadLetter entry) {
  put(operations_->puts(), entry);
  return operations_->when_durable<void>({});
}

Answer<std::optional<DeadLetter>> RocksStore::dead_letter(const JobId& job) {
  using Entry = std::optional<DeadLetter>;
  if (!dead_letters_.contains(job.str())) return Entry{};
  return operations_->in_order([job](const Database& database, Puts&) -> Result<Entry> {
    auto entries = read_values(database, Family::kDeadLetter, {job.str()}, decode_dead_letter);
    if (!entries) return std::unexpected(entries.error());
    return entries->empty() ? Entry{} : Entry(std::move(entries->front()));
  });
}

Answer<std::vector<DeadLetter>> RocksStore::dead_letters(std::string cursor, size_t limit) {
  Position behind{WallTime::max(), {}, true};
  if (auto given = parse_cursor(cursor)) behind = *std::move(given);
  if (!behind.ended) behind.at += Duration(1);
  std::vector<std::string> jobs = dead_letters_.latest(behind.at, behind.ended ? behind.id : "",
                                                       std::min(limit, limits::kScanMax));
  return operations_->in_order([jobs = std::move(jobs)](const Database& database, Puts&) {
    return read_values(database, Family::kDeadLetter, jobs, decode_dead_letter);
  });
}

Answer<bool> RocksStore::erase_dead_letter(const JobId& job) {
  bool there = dead_letters_.erase(job.str());
  if (there) operations_->puts().erase(Family::kDeadLetter, job.str());
  return operations_->when_durable<bool>(there);
}

// --- Blobs and counters --------------------------------------------------------------------------

Answer<bool> RocksStore::put_blob(std::string key, Blob blob, BlobCondition condition) {
  if (auto refusal = operations_->push_back(true)) return std::unexpected(*std::move(refusal));
  size_t bytes = blob.bytes.size();
  if (bytes > limits::kBlobBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a blob has at most {} bytes, {} has {}",
                                                 limits::kBlobBytesMax, key, bytes));
  }
  return operations_->in_order(
      [key = std::move(key), blob = std::move(blob), condition, now = clock_.wall()](
          const Database& database, Puts& more) -> Result<bool> {
        if (condition != BlobCondition::kAlways) {
          auto present = blob_present(database, key, now);
          if (!present) return present;
          if (*present != (condition == BlobCondition::kIfPresent)) return false;
        }
        put_blob(more, key, blob);
        return true;
      },
      bytes);
}

Answer<bool> RocksStore::swap_blob(std::string key, std::optional<std::string> expected,
                                   Blob blob) {
  if (auto refusal = operations_->push_back(true)) return std::unexpected(*std::move(refusal));
  const size_t bytes = blob.bytes.size();
  return operations_->in_order(
      [key = std::move(key), expected = std::move(expected), blob = std::move(blob),
       now = clock_.wall()](const Database& database, Puts& more) -> Result<bool> {
        auto present = read_blob(database, key, now);
        if (!present) return std::unexpected(present.error());
        const bool fits = *present ? expected && (*present)->bytes == *expected : !expected;
        if (fits) put_blob(more, key, blob);
        return fits;
      },
      bytes);
}

void RocksStore::put_blob(Puts& puts, const std::string& key, const Blob& blob) {
  puts.put(Family::kBlob, key, encode(blob));
  if (blob.expires) puts.put(Family::kBlobByExpiry, time_key(*blob.expires, key), "");
}

Answer<std::optional<Blob>> RocksStore::blob(std::string key, size_t max) {
  auto read = [key = std::move(key), max, now = clock_.wall()](const Database& database, Puts&) {
    auto found = read_blob(database, key, now);
    if (found && *found) *found = head_of(**std::move(found), max);
    return found;
  };
  return operations_->in_order(std::move(read));
}

Answer<bool> RocksStore::erase_blob(std::string key) {
  auto erase = [key = std::move(key), now = clock_.wall()](const Database& database,
                                                           Puts& more) -> Result<bool> {
    auto present = blob_present(database, key, now);
    if (present) more.erase(Family::kBlob, key);
    return present;
  };
  return operations_->in_order(std::move(erase));
}

Answer<int64_t> RocksStore::add(std::string counter, int64_t delta) {
  int64_t value = counters_[counter] += delta;
  operations_->puts().put(Family::kCounter, counter, encode(value));
  return operations_->when_durable<int64_t>(value);
}

Answer<void> RocksStore::put_workers(Blob snapshot, std::vector<WorkerId>) {
  put_blob(operations_->puts(), std::string(kWorkersKey), snapshot);
  return operations_->when_durable<void>({});
}

Answer<BreakerAnswer> RocksStore::breaker(std::string name, BreakerEvent event, WallTime now) {
  return breakers_.tell(name, event, now);
}

}  // namespace fairlead::store
