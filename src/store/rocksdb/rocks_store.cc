#include "store/rocksdb/rocks_store.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/limits.h"
#include "job/codec.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/reading.h"

namespace fairlead::store {

namespace {

constexpr std::string_view kSequenceKey = "sequence";

}  // namespace

// --- Opening and closing -------------------------------------------------------------------------

Result<std::unique_ptr<RocksStore>> RocksStore::open(RocksOptions options, Loop& loop,
                                                     const Clock& clock) {
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(options), loop, clock));
  auto database = Database::open(store->options_,
                                 [&](const Database& checked) { return store->rebuild(checked); });
  if (!database) return std::unexpected(database.error());
  store->database_ = *std::move(database);
  store->committer_ =
      std::make_unique<Committer>(*store->database_, store->options_, loop,
                                  [&loop, self = std::weak_ptr(store->self_)](uint64_t operation) {
                                    loop.post([self, operation] {
                                      if (auto alive = self.lock())
                                        (*alive)->complete_until(operation);
                                    });
                                  });
  return store;
}

RocksStore::RocksStore(RocksOptions options, Loop& loop, const Clock& clock)
    : options_(std::move(options)),
      loop_(loop),
      clock_(clock),
      table_(clock.wall()),
      self_(std::make_shared<RocksStore*>(this)) {}

RocksStore::~RocksStore() {
  if (committer_) hand_over();
  committer_.reset();
}

Result<void> RocksStore::rebuild(const Database& database) {
  if (auto jobs = rebuild_jobs(database); !jobs) return jobs;

  auto mark = database.get(Family::kMeta, kSequenceKey);
  if (!mark) return std::unexpected(mark.error());
  if (*mark) {
    auto number = parse_number_key(**mark);
    if (!number) return fail(ErrorCode::kCorrupt, "the sequence mark makes no sense");
    next_sequence_ = sequence_mark_ = *number;
  }
  auto messages = database.for_each(
      Family::kMessage, [&](std::string_view, std::string_view value) -> Result<void> {
        auto message = decode_message(value);
        if (!message) return std::unexpected(message.error());
        messages_.emplace(message->stored.sequence, message->stored_at);
        return {};
      });
  if (!messages) return messages;
  auto timers = database.for_each(
      Family::kTimer, [&](std::string_view key, std::string_view value) -> Result<void> {
        auto timer = decode_timer(value);
        if (!timer) return std::unexpected(timer.error());
        timers_.set(key, timer->at);
        return {};
      });
  if (!timers) return timers;
  auto letters = database.for_each(
      Family::kDeadLetter, [&](std::string_view key, std::string_view value) -> Result<void> {
        auto entry = decode_dead_letter(value);
        if (!entry) return std::unexpected(entry.error());
        dead_letters_.set(key, entry->created_at);
        return {};
      });
  if (!letters) return letters;
  return database.for_each(Family::kCounter,
                           [&](std::string_view key, std::string_view value) -> Result<void> {
                             auto number = decode_counter(value);
                             if (!number) return std::unexpected(number.error());
                             counters_.emplace(key, *number);
                             return {};
                           });
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
        table_.follow(*record, now, wall);
        return {};
      });
  table_.sort();
  return jobs;
}

// --- Operations ----------------------------------------------------------------------------------

std::optional<Error> RocksStore::push_back(bool new_work) const {
  if (waiting_.size() >= limits::kCommitQueueMax ||
      waiting_bytes_ >= limits::kCommitQueueBytesMax) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("busy: {} changes wait for the disk", waiting_.size())};
  }
  if (!new_work) return std::nullopt;
  uint64_t free = committer_->free_bytes();
  if (free >= options_.disk_reserve_bytes) return std::nullopt;
  return Error{ErrorCode::kFull,
               fmt::format("data folder {} has {} MB free, below the reserve of {} MB; new work is "
                           "refused until there is space, running jobs may still end",
                           options_.path, free >> 20, options_.disk_reserve_bytes >> 20)};
}

Puts& RocksStore::puts() {
  if (turn_.empty() || turn_.back().task) turn_.emplace_back();
  return turn_.back().puts;
}

template <class T>
Answer<T> RocksStore::when_durable(Result<T> answer, size_t bytes) {
  Completer<Result<T>> completer;
  Answer<T> future = completer.future();
  enlist([completer = std::move(completer),
          answer = std::move(answer)]() mutable { completer.complete(std::move(answer)); },
         bytes);
  return future;
}

template <class Outcome, class Finish>
auto RocksStore::in_order(std::move_only_function<Outcome(const Database&, Puts&)> task,
                          Finish finish, size_t bytes)
    -> Future<std::invoke_result_t<Finish, Outcome>> {
  using Given = std::invoke_result_t<Finish, Outcome>;
  // Written by the committer, read by the loop after the committer has reported.
  auto outcome = std::make_shared<std::optional<Outcome>>();
  if (turn_.empty() || turn_.back().task) turn_.emplace_back();
  turn_.back().task = [outcome, task = std::move(task)](const Database& database,
                                                        Puts& more) mutable {
    outcome->emplace(task(database, more));
  };
  Completer<Given> completer;
  Future<Given> future = completer.future();
  enlist([completer = std::move(completer), finish = std::move(finish),
          outcome]() mutable { completer.complete(finish(**std::move(outcome))); },
         bytes);
  return future;
}

template <class T>
Answer<T> RocksStore::in_order(std::move_only_function<Result<T>(const Database&, Puts&)> task,
                               size_t bytes) {
  return in_order<Result<T>>(std::move(task), [](Result<T> outcome) { return outcome; }, bytes);
}

void RocksStore::enlist(std::move_only_function<void()> complete, size_t bytes) {
  ++last_operation_;
  waiting_.push_back({std::move(complete), bytes});
  waiting_bytes_ += bytes;
  if (last_operation_ - handed_over_ >= limits::kHandOverEarly && committer_->idle()) {
    return hand_over();
  }
  if (std::exchange(hand_over_posted_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    auto alive = self.lock();
    if (!alive) return;
    (*alive)->hand_over_posted_ = false;
    (*alive)->hand_over();
  });
}

void RocksStore::hand_over() {
  if (last_operation_ == handed_over_) return;
  handed_over_ = last_operation_;
  committer_->hand_over(std::exchange(turn_, {}), last_operation_);
}

void RocksStore::complete_until(uint64_t operation) {
  size_t count = operation - durable_;
  durable_ = operation;
  for (; count > 0; --count) {
    Waiting done = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= done.bytes;
    done.complete();
  }
  std::erase_if(pending_keys_, [&](const auto& key) { return key.second.operation <= durable_; });
  records_.trim(durable_);
}

// --- Jobs ----------------------------------------------------------------------------------------

Result<std::optional<job::Record>> RocksStore::find(const JobId& job) {
  if (RecordCache::Entry* entry = records_.find(job)) return std::optional(entry->record);
  return read_record(*database_, table_.contains(job) ? Family::kLive : Family::kEnded, job);
}

bool RocksStore::is_durable(const JobId& job) {
  RecordCache::Entry* entry = records_.find(job);
  return !entry || entry->operation <= durable_;
}

Answer<Loaded> RocksStore::load(const JobId& job, LoadOptions options) {
  Loaded loaded;
  if (options.lease) {
    loaded.lease_taken =
        table_.leases().acquire(job_lease_key(job), *options.lease, clock_.monotonic());
  }
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
  if (!is_durable(job)) return when_durable<Loaded>(std::move(loaded));
  return loaded;
}

Answer<Receipt> RocksStore::apply(Change change) {
  job::Record& next = change.next;
  bool admission = !change.guard.revision;
  if (auto refusal = push_back(admission)) return std::unexpected(*std::move(refusal));

  Table::Before before = table_.before(next.id);
  std::optional<job::Record> ended;
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

  next.revision = before.revision.next();
  Applied applied{next.revision, {}, {}};
  Puts& puts = this->puts();
  size_t bytes = puts.bytes();
  put_record(puts, next, ended);
  if (!key.empty()) put_key(puts, key, next);
  if (change.request) puts.put(Family::kRequest, next.id.str(), *change.request);
  if (change.dead_letter) put(puts, *change.dead_letter);
  for (Message& message : change.messages) {
    applied.messages.push_back(put(puts, std::move(message), false, next.updated_at));
  }
  for (const Timer& timer : change.timers) {
    timers_.set(timer.key, timer.at);
    puts.put(Family::kTimer, timer.key, encode(timer));
  }
  for (const std::string& timer : change.timers_done) {
    if (timers_.erase(timer)) puts.erase(Family::kTimer, timer);
  }
  if (change.consumed && messages_.erase(*change.consumed) > 0) {
    puts.erase(Family::kMessage, number_key(change.consumed->value()));
  }

  table_.follow(next, now, next.updated_at);
  if (change.release_lease) table_.leases().release(job_lease_key(next.id), change.guard.lease);
  applied.claimed = table_.claim_each(change.claim_from, now);
  records_.put(std::move(next), std::move(change.request), operation());
  return when_durable<Receipt>(Receipt(std::move(applied)), puts.bytes() - bytes);
}

// A refusal tells of a job: it is given when what it tells is durable.
Answer<Receipt> RocksStore::refuse(Receipt refusal, const JobId& job) {
  if (auto* conflict = std::get_if<Conflict>(&refusal)) {
    auto now = find(job);
    if (!now) return std::unexpected(now.error());
    conflict->now = *std::move(now);
  }
  if (!is_durable(job)) return when_durable<Receipt>(std::move(refusal));
  return refusal;
}

void RocksStore::put_record(Puts& puts, const job::Record& next,
                            const std::optional<job::Record>& ended) {
  if (!job::is_terminal(next.state)) {
    puts.put(Family::kLive, next);
    return;
  }
  if (table_.contains(next.id)) puts.erase(Family::kLive, next.id.str());
  if (ended) puts.erase(Family::kEndedByTime, time_key(ended->updated_at, next.id.str()));
  puts.put(Family::kEnded, next);
  puts.put(Family::kEndedByTime, time_key(next.updated_at, next.id.str()), ended_value(next.state));
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
  pending_keys_[key] = {std::move(holder), operation()};
}

Answer<Page> RocksStore::scan(Query query) {
  query.limit = std::min(query.limit, limits::kScanMax);
  std::vector<JobId> live = table_.scan(query);
  bool only_live = query.by != Query::By::kRecent && query.by != Query::By::kTrace &&
                   query.by != Query::By::kEnded && query.by != Query::By::kState;
  if (only_live && live.empty()) return Page{};
  return in_order<Page>(
      [query = std::move(query), live = std::move(live)](const Database& database, Puts&) {
        return read_page(database, query, live);
      });
}

Answer<size_t> RocksStore::retire(WallTime now, size_t limit) {
  std::vector<std::string> letters = dead_letters_.until(now - options_.dead_letter_ttl, limit);
  for (const std::string& job : letters) {
    dead_letters_.erase(job);
    puts().erase(Family::kDeadLetter, job);
  }
  size_t rest = limit - letters.size();
  return in_order<Result<Retired>>(
      [now, rest, ttl = options_.ended_job_ttl](const Database& database, Puts& more) {
        return retire_expired(database, more, now, ttl, rest);
      },
      [this, gone = letters.size()](Result<Retired> retired) -> Result<size_t> {
        if (!retired) return std::unexpected(retired.error());
        for (const JobId& job : retired->jobs) {
          if (is_durable(job)) records_.erase(job);
        }
        return gone + retired->count;
      });
}

// --- Waiting and leases: in memory ---------------------------------------------------------------

Answer<std::vector<Claim>> RocksStore::claim(Claims claims) {
  return table_.claim(claims, clock_.monotonic());
}

Answer<void> RocksStore::unclaim(const JobId& job, Duration pause) {
  table_.unclaim(job, clock_.monotonic() + pause);
  return Result<void>{};
}

Answer<std::vector<WaitClassView>> RocksStore::waiting(size_t limit) {
  return table_.waiting().list(limit);
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

Answer<void> RocksStore::sign_of_life(std::string replica) {
  table_.leases().sign_of_life(replica, clock_.monotonic());
  return Result<void>{};
}

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
  messages_.emplace(sequence, now);
  puts.put(Family::kMessage, number_key(sequence.value()),
           encode(KeptMessage{{sequence, std::move(message), queued, 0}, now}));
  return sequence;
}

Answer<Sequence> RocksStore::enqueue(Message message, WallTime now) {
  if (auto refusal = push_back(true)) return std::unexpected(*std::move(refusal));
  size_t bytes = message.payload.size();
  return when_durable<Sequence>(put(puts(), std::move(message), true, now), bytes);
}

Answer<void> RocksStore::forget(std::vector<Sequence> messages) {
  for (Sequence sequence : messages) {
    if (messages_.erase(sequence) > 0) puts().erase(Family::kMessage, number_key(sequence.value()));
  }
  return when_durable<void>({});
}

Answer<std::vector<StoredMessage>> RocksStore::orphans(WallTime stored_before, size_t limit) {
  std::vector<Sequence> found;
  for (const auto& [sequence, stored_at] : messages_) {
    if (found.size() == limit) break;
    if (stored_at < stored_before) found.push_back(sequence);
  }
  if (found.empty()) return std::vector<StoredMessage>{};
  using Messages = std::vector<StoredMessage>;
  return in_order<Messages>(
      [found = std::move(found)](const Database& database, Puts&) -> Result<Messages> {
        Messages messages;
        for (Sequence sequence : found) {
          auto bytes = database.get(Family::kMessage, number_key(sequence.value()));
          if (!bytes) return std::unexpected(bytes.error());
          if (!*bytes) continue;
          auto message = decode_message(**bytes);
          if (!message) return std::unexpected(message.error());
          messages.push_back(std::move(message->stored));
        }
        return messages;
      });
}

Answer<Sequence> RocksStore::reserve_sequences(uint64_t count) {
  return when_durable<Sequence>(take_sequences(puts(), count));
}

Answer<std::vector<Timer>> RocksStore::due_timers(WallTime now, size_t limit) {
  std::vector<std::string> due = timers_.until(now, limit);
  if (due.empty()) return std::vector<Timer>{};
  using Timers = std::vector<Timer>;
  return in_order<Timers>(
      [due = std::move(due)](const Database& database, Puts&) -> Result<Timers> {
        Timers timers;
        for (const std::string& key : due) {
          auto bytes = database.get(Family::kTimer, key);
          if (!bytes) return std::unexpected(bytes.error());
          if (!*bytes) continue;
          auto timer = decode_timer(**bytes);
          if (!timer) return std::unexpected(timer.error());
          timers.push_back(*std::move(timer));
        }
        return timers;
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
  put(puts(), entry);
  return when_durable<void>({});
}

Answer<std::optional<DeadLetter>> RocksStore::dead_letter(const JobId& job) {
  using Entry = std::optional<DeadLetter>;
  if (!dead_letters_.contains(job.str())) return Entry{};
  return in_order<Entry>([job](const Database& database, Puts&) -> Result<Entry> {
    auto bytes = database.get(Family::kDeadLetter, job.str());
    if (!bytes) return std::unexpected(bytes.error());
    if (!*bytes) return Entry{};
    auto entry = decode_dead_letter(**bytes);
    if (!entry) return std::unexpected(entry.error());
    return Entry(*std::move(entry));
  });
}

Answer<std::vector<DeadLetter>> RocksStore::dead_letters(std::string cursor, size_t limit) {
  using Entries = std::vector<DeadLetter>;
  std::vector<std::string> jobs = dead_letters_.latest(cursor, std::min(limit, limits::kScanMax));
  return in_order<Entries>(
      [jobs = std::move(jobs)](const Database& database, Puts&) -> Result<Entries> {
        Entries entries;
        for (const std::string& job : jobs) {
          auto bytes = database.get(Family::kDeadLetter, job);
          if (!bytes) return std::unexpected(bytes.error());
          if (!*bytes) continue;
          auto entry = decode_dead_letter(**bytes);
          if (!entry) return std::unexpected(entry.error());
          entries.push_back(*std::move(entry));
        }
        return entries;
      });
}

Answer<bool> RocksStore::erase_dead_letter(const JobId& job) {
  if (!dead_letters_.erase(job.str())) return when_durable<bool>(false);
  puts().erase(Family::kDeadLetter, job.str());
  return when_durable<bool>(true);
}

// --- Blobs and counters --------------------------------------------------------------------------

namespace {

bool is_over(const std::optional<WallTime>& expires, WallTime now) {
  return expires && *expires <= now;
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

Answer<bool> RocksStore::put_blob(std::string key, Blob blob, BlobCondition condition) {
  if (auto refusal = push_back(true)) return std::unexpected(*std::move(refusal));
  size_t bytes = blob.bytes.size();
  if (bytes > limits::kBlobBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a blob has at most {} bytes, {} has {}",
                                                 limits::kBlobBytesMax, key, bytes));
  }
  return in_order<bool>(
      [key = std::move(key), blob = std::move(blob), condition, now = clock_.wall()](
          const Database& database, Puts& more) -> Result<bool> {
        if (condition != BlobCondition::kAlways) {
          auto present = blob_present(database, key, now);
          if (!present) return present;
          if (*present != (condition == BlobCondition::kIfPresent)) return false;
        }
        more.put(Family::kBlob, key, encode(blob));
        if (blob.expires) more.put(Family::kBlobByExpiry, time_key(*blob.expires, key), "");
        return true;
      },
      bytes);
}

Answer<std::optional<Blob>> RocksStore::blob(std::string key) {
  using Found = std::optional<Blob>;
  return in_order<Found>([key = std::move(key), now = clock_.wall()](const Database& database,
                                                                     Puts&) -> Result<Found> {
    auto bytes = database.get(Family::kBlob, key);
    if (!bytes) return std::unexpected(bytes.error());
    if (!*bytes) return Found{};
    auto blob = decode_blob(**bytes);
    if (!blob) return std::unexpected(blob.error());
    if (is_over(blob->expires, now)) return Found{};
    return Found(*std::move(blob));
  });
}

Answer<bool> RocksStore::erase_blob(std::string key) {
  return in_order<bool>([key = std::move(key), now = clock_.wall()](const Database& database,
                                                                    Puts& more) -> Result<bool> {
    auto present = blob_present(database, key, now);
    if (!present) return present;
    more.erase(Family::kBlob, key);
    return *present;
  });
}

Answer<int64_t> RocksStore::add(std::string counter, int64_t delta) {
  int64_t value = counters_[counter] += delta;
  puts().put(Family::kCounter, counter, encode(value));
  return when_durable<int64_t>(value);
}

}  // namespace fairlead::store
