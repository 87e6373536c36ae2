#include "store/rocksdb/rocks_store.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/core.h>

#include "base/limits.h"
#include "job/codec.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/reading.h"

namespace fairlead::store {

namespace {

// Visits everything of a family with its decoded value.
template <class T>
Result<void> for_each(const Database& database, Family family,
                      Result<T> (*decode)(std::string_view),
                      const std::function<void(std::string_view, T)>& visit) {
  return database.for_each(family,
                           [&](std::string_view key, std::string_view bytes) -> Result<void> {
                             auto value = decode(bytes);
                             if (!value) return std::unexpected(value.error());
                             visit(key, *std::move(value));
                             return {};
                           });
}

}  // namespace

// --- Opening and closing -------------------------------------------------------------------------

Result<std::unique_ptr<RocksStore>> RocksStore::open(RocksOptions options, Loop& loop,
                                                     const Clock& clock) {
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(options), clock));
  auto database = Database::open(store->options_,
                                 [&](const Database& checked) { return store->rebuild(checked); });
  if (!database) return std::unexpected(database.error());
  store->database_ = *std::move(database);
  if (auto counted = store->read_ended_counts(); !counted) return std::unexpected(counted.error());
  store->operations_ = std::make_unique<Operations>(*store->database_, store->options_, loop,
                                                    [self = store.get()] { self->let_go(); });
  return store;
}

RocksStore::RocksStore(RocksOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), table_(clock.wall()) {}

RocksStore::~RocksStore() = default;

Result<void> RocksStore::rebuild(const Database& database) {
  if (auto jobs = rebuild_jobs(database); !jobs) return jobs;

  auto mark = database.get(Family::kMeta, kSequenceKey);
  if (!mark) return std::unexpected(mark.error());
  if (*mark) {
    auto number = parse_number_key(**mark);
    if (!number) return fail(ErrorCode::kCorrupt, "the sequence mark makes no sense");
    next_sequence_ = sequence_mark_ = *number;
  }
  auto read = for_each<StoredMessage>(
      database, Family::kMessage, decode_message, [this](std::string_view, StoredMessage message) {
        // Who should have published it is gone.
        note(message.sequence, message.queued, MonotonicTime::min());
      });
  if (!read) return read;
  read = for_each<Timer>(database, Family::kTimer, decode_timer,
                         [this](std::string_view key, Timer timer) { timers_.set(key, timer.at); });
  if (!read) return read;
  read = for_each<DeadLetter>(
      database, Family::kDeadLetter, decode_dead_letter,
      [this](std::string_view key, DeadLetter entry) { dead_letters_.set(key, entry.created_at); });
  if (!read) return read;
  return for_each<int64_t>(
      database, Family::kCounter, decode_counter,
      [this](std::string_view key, int64_t number) { counters_.emplace(key, number); });
}

Result<void> RocksStore::rebuild_jobs(const Database& database) {
  MonotonicTime now = clock_.monotonic();
  WallTime wall = clock_.wall();
  auto jobs = database.for_each(
      Family::kLive, [&](std::string_view key, std::string_view value) -> Result<void> {
        auto record = job::decode(value);
        if (!record) return std::unexpected(record.error());
        if (record->id.str() != key || job::is_terminal(record->state)) {
          return fail(ErrorCode::kCorrupt,
                      fmt::format("the record of live job {} is not its", key));
        }
        table_.restore(*record, now, wall);
        return {};
      });
  table_.sort();
  return jobs;
}

// After an upgrade, which may have made them.
Result<void> RocksStore::read_ended_counts() {
  for (auto [key, counts] : {std::pair(kEndedKey, &ended_), std::pair(kRetiredKey, &retired_)}) {
    auto stored = read_counts(*database_, key);
    if (!stored) return std::unexpected(stored.error());
    *counts = *stored;
  }
  return {};
}

void RocksStore::let_go() {
  uint64_t durable = operations_->durable();
  std::erase_if(pending_keys_, [&](const auto& key) { return key.second.operation <= durable; });
  records_.trim(durable);
}

// --- Jobs ----------------------------------------------------------------------------------------

Result<Snapshot> RocksStore::find(const JobId& job) {
  if (RecordCache::Entry* entry = records_.find(job)) return entry->record;
  if (job == absent_) return nullptr;
  auto record = read_record(*database_, table_.contains(job) ? Family::kLive : Family::kEnded, job);
  if (!record) return std::unexpected(record.error());
  if (*record) return std::make_shared<const job::Record>(**std::move(record));
  absent_ = job;
  return nullptr;
}

bool RocksStore::is_durable(const JobId& job) {
  RecordCache::Entry* entry = records_.find(job);
  return !entry || entry->operation <= operations_->durable();
}

Answer<Loaded> RocksStore::load(const JobId& job, LoadOptions options) {
  Loaded loaded;
  auto record = find(job);
  if (!record) return std::unexpected(record.error());
  loaded.record = *std::move(record);
  if (options.with_request && loaded.record) {
    RecordCache::Entry* entry = records_.find(job);
    if (entry && entry->request) {
      loaded.request = *entry->request;
    } else {
      auto request = database_->get(Family::kRequest, job.str());
      if (!request) return std::unexpected(request.error());
      if (*request) loaded.request = **std::move(request);
    }
  }
  if (options.lease) {
    loaded.lease_taken =
        table_.leases().acquire(job_lease_key(job), *options.lease, clock_.monotonic());
  }
  loaded.ahead = !is_durable(job);
  if (!loaded.ahead || options.ahead) return loaded;
  loaded.ahead = false;
  return operations_->when_durable<Loaded>(std::move(loaded));
}

Answer<Receipt> RocksStore::apply(Change change) {
  job::Record& next = *change.next;
  bool admission = !change.guard.revision;
  if (auto refusal = operations_->push_back(admission)) return std::unexpected(*std::move(refusal));

  Table::Before before = table_.before(next.id);
  Snapshot ended;
  if (!before.state) {
    auto found = find(next.id);
    if (!found) return std::unexpected(found.error());
    ended = *std::move(found);
    if (ended) before = {ended->state, ended->revision};
  }
  MonotonicTime now = clock_.monotonic();
  if (auto refusal = table_.refusal(change, before, now)) {
    return refuse(*std::move(refusal), next.id);
  }

  std::string key;
  if (!before.state && !next.idempotency_key.empty()) {
    key = idempotency_key(next.tenant, next.idempotency_key);
    auto holder = holder_of(key);
    if (!holder) return std::unexpected(holder.error());
    if (*holder && (*holder)->expires > next.updated_at) {
      return refuse(DuplicateKey{(*holder)->job}, (*holder)->job);
    }
  }

  absent_ = JobId();
  next.revision = before.revision.next();
  Applied applied;
  applied.record = std::move(change.next).seal();
  const job::Record& record = *applied.record;
  Puts& puts = operations_->puts();
  size_t bytes = puts.bytes();
  put_record(puts, applied.record, ended.get());
  if (!key.empty()) put_key(puts, key, record);
  if (change.request) puts.put(Family::kRequest, record.id.str(), *change.request);
  if (change.dead_letter) put(puts, *change.dead_letter);
  for (Message& message : change.messages) {
    applied.messages.push_back(put(puts, std::move(message), false, record.updated_at));
  }
  for (const Timer& timer : change.timers) {
    timers_.set(timer.key, timer.at);
    puts.put(Family::kTimer, timer.key, encode(timer));
  }
  for (const std::string& timer : change.timers_done) {
    if (timers_.erase(timer)) puts.erase(Family::kTimer, timer);
  }
  if (change.consumed) forget(puts, *change.consumed);
  if (!change.mark.empty()) {
    put_blob(puts, processed_key(change.mark), {"1", record.updated_at + limits::kProcessedTtl});
  }

  table_.follow(record, now);
  if (change.release_lease) table_.leases().release(job_lease_key(record.id), change.guard.lease);
  applied.claimed = table_.claim_each(change.claim_from, now);
  records_.put(applied.record, std::move(change.request), operations_->next());
  return operations_->when_durable<Receipt>(
      Receipt(std::move(applied)), puts.bytes() - bytes,
      change.may_be_put_off ? Operations::Haste::kNone : Operations::Haste::kAtOnce);
}

// A refusal tells of a job: it is given when what it tells is durable.
Answer<Receipt> RocksStore::refuse(Receipt refusal, const JobId& job) {
  if (auto* conflict = std::get_if<Conflict>(&refusal)) {
    auto now = find(job);
    if (!now) return std::unexpected(now.error());
    conflict->now = *std::move(now);
  }
  if (!is_durable(job)) return operations_->when_durable<Receipt>(std::move(refusal));
  return refusal;
}

void RocksStore::put_record(Puts& puts, const Snapshot& record, const job::Record* ended) {
  const job::Record& next = *record;
  if (!job::is_terminal(next.state)) {
    puts.put(Family::kLive, record);
    return;
  }
  if (table_.contains(next.id)) puts.erase(Family::kLive, next.id.str());
  if (ended) {
    visit_entries(*ended, [&](Family family, const std::string& key) { puts.erase(family, key); });
    --ended_[static_cast<size_t>(ended->state)];
  }
  ++ended_[static_cast<size_t>(next.state)];
  puts.put(Family::kMeta, kEndedKey, encode(ended_));
  puts.put(Family::kEnded, record);
  const std::string mark = ended_mark(next);
  visit_entries(next, [&](Family family, const std::string& key) { puts.put(family, key, mark); });
  if (!next.trace.empty()) {
    puts.put(Family::kTrace, trace_key(next.trace, next.created_at, next.id), "");
  }
}

Result<std::optional<KeyHolder>> RocksStore::holder_of(const std::string& key) {
  if (auto pending = pending_keys_.find(key); pending != pending_keys_.end()) {
    return std::optional(pending->second.holder);
  }
  auto bytes = database_->get(Family::kIdempotency, key);
  if (!bytes) return std::unexpected(bytes.error());
  if (!*bytes) return std::optional<KeyHolder>{};
  auto holder = decode_key_holder(**bytes);
  if (!holder) return std::unexpected(holder.error());
  return std::optional(*std::move(holder));
}

void RocksStore::put_key(Puts& puts, const std::string& key, const job::Record& record) {
  KeyHolder holder{record.id, record.updated_at + options_.idempotency_ttl};
  puts.put(Family::kIdempotency, key, encode(holder));
  puts.put(Family::kIdempotencyByExpiry, time_key(holder.expires, key), "");
  pending_keys_[key] = {std::move(holder), operations_->next()};
}

Answer<Page> RocksStore::scan(Query query) {
  query.limit = std::min(query.limit, limits::kScanMax);
  Table::Scanned live = table_.scan(query, clock_.monotonic());
  bool only_live = query.by != Query::By::kRecent && query.by != Query::By::kTrace &&
                   query.by != Query::By::kEnded && query.by != Query::By::kState;
  if (only_live && live.jobs.empty()) return Page{};
  return operations_->in_order(
      [query = std::move(query), live = std::move(live)](const Database& database, Puts&) {
        return read_page(database, query, live);
      });
}

Answer<size_t> RocksStore::retire(WallTime now, size_t limit) {
  std::vector<std::string> letters = dead_letters_.until(now - options_.dead_letter_ttl, limit);
  for (const std::string& job : letters) {
    dead_letters_.erase(job);
    operations_->puts().erase(Family::kDeadLetter, job);
  }
  size_t rest = limit - letters.size();
  return operations_->in_order(
      [now, rest, ttl = options_.ended_job_ttl](const Database& database, Puts& more) {
        return retire_expired(database, more, now, ttl, rest);
      },
      [this, gone = letters.size()](Result<Retired> retired) -> Result<size_t> {
        if (!retired) return std::unexpected(retired.error());
        for (const JobId& job : retired->jobs) {
          if (is_durable(job)) records_.erase(job);
        }
        std::ranges::transform(retired_, retired->in_state, retired_.begin(), std::plus{});
        return gone + retired->count;
      });
}

size_t RocksStore::jobs_in(job::State state) const {
  const auto index = static_cast<size_t>(state);
  if (!job::is_terminal(state)) return table_.size(state);
  return static_cast<size_t>(std::max<int64_t>(0, ended_[index] - retired_[index]));
}

Answer<Queues> RocksStore::queues() {
  return Queues{table_.queues(), true};
}

Answer<std::optional<JobId>> RocksStore::key_holder(const TenantId& tenant, std::string key) {
  using Holder = std::optional<JobId>;
  const std::string stored = idempotency_key(tenant, key);
  auto holder = holder_of(stored);
  if (!holder) return std::unexpected(holder.error());
  if (!*holder || (*holder)->expires <= clock_.wall()) return Holder{};
  Holder job((*holder)->job);
  if (pending_keys_.contains(stored)) return operations_->when_durable<Holder>(std::move(job));
  return job;
}

// --- Waiting and leases: in memory ---------------------------------------------------------------

Answer<std::vector<Claim>> RocksStore::claim(Claims claims) {
  return table_.claim(claims, clock_.monotonic());
}

Answer<void> RocksStore::unclaim(const JobId& job, Duration pause) {
  table_.unclaim(job, clock_.monotonic() + pause);
  return Result<void>{};
}

Answer<std::vector<WaitClassView>> RocksStore::waiting(std::string after, size_t limit) {
  return table_.waiting().list(after, limit);
}

size_t RocksStore::waiting_in(std::string_view wait_class) const {
  return table_.waiting().waiting_in(wait_class);
}

Answer<bool> RocksStore::acquire(std::string key, LeaseRequest lease) {
  return table_.leases().acquire(key, lease, clock_.monotonic());
}

Answer<bool> RocksStore::renew(std::string key, LeaseRequest lease) {
  return table_.leases().renew(key, lease, clock_.monotonic());
}

Answer<void> RocksStore::release(std::string key, std::string token) {
  table_.leases().release(key, token);
  return Result<void>{};
}

Answer<WallTime> RocksStore::sign_of_life(std::string replica) {
  table_.leases().sign_of_life(replica, clock_.monotonic());
  return clock_.wall();
}

}  // namespace fairlead::store
