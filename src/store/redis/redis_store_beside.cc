// What RedisStore keeps beside the jobs: leases, messages, timers, dead letters, blobs, counters.
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/limits.h"
#include "store/cursor.h"
#include "store/redis/arguments.h"
#include "store/redis/go_json.h"
#include "store/redis/redis_store.h"
#include "store/values.h"

namespace fairlead::store::redis {

namespace {

const char* word_of(BreakerEvent event) {
  switch (event) {
    case BreakerEvent::kAsk:
      return "ask";
    case BreakerEvent::kSuccess:
      return "success";
    case BreakerEvent::kFailure:
      return "failure";
  }
  return "";
}

std::unexpected<Error> too_large(const std::string& key, const Blob& blob) {
  return fail(ErrorCode::kInvalid, fmt::format("a blob has at most {} bytes, {} has {}",
                                               limits::kBlobBytesMax, key, blob.bytes.size()));
}

// One that cannot be read is shown as such, and can be erased like any other.
DeadLetter letter_of(const JobId& job, std::string_view text, WallTime at) {
  auto entry = parse_dead_letter(text);
  if (entry) {
    if (entry->job.empty()) entry->job = job;
    return *std::move(entry);
  }
  DeadLetter unreadable;
  unreadable.job = job;
  unreadable.reason = entry.error().message;
  unreadable.created_at = at;
  return unreadable;
}

}  // namespace

// --- Leases --------------------------------------------------------------------------------------

Answer<bool> RedisStore::acquire(std::string key, LeaseRequest lease) {
  Command acquire = script(Script::kAcquire);
  acquire.add(key);
  acquire.add(lease.token);
  acquire.add(milliseconds(lease.ttl));
  return ask_whether(acquire);
}

Answer<bool> RedisStore::renew(std::string key, LeaseRequest lease) {
  Command renew = script(Script::kRenew);
  renew.add(key);
  renew.add(lease.token);
  renew.add(milliseconds(lease.ttl));
  return ask_whether(renew);
}

Answer<void> RedisStore::release(std::string key, std::string token) {
  Command release = script(Script::kRelease);
  release.add(key);
  release.add(token);
  return tell(release);
}

Answer<WallTime> RedisStore::sign_of_life(std::string replica) {
  if (!identified_ && connected()) ask_identity();
  Command sign = script(Script::kSignOfLife);
  sign.add(replica);
  sign.add(milliseconds(limits::kAliveTtl));
  sign.add(milliseconds(limits::kRedisLivedTtl));
  Completer<Result<WallTime>> completer;
  Answer<WallTime> answer = completer.future();
  client_->call(sign, [self = std::weak_ptr(self_), asked = clock_.monotonic(),
                       completer = std::move(completer)](Result<Reply> reply) mutable {
    auto alive = self.lock();
    if (alive) completer.complete((*alive)->take_sign_of_life(std::move(reply), asked));
  });
  return answer;
}

Result<WallTime> RedisStore::take_sign_of_life(Result<Reply> reply, MonotonicTime asked) {
  if (!reply) {
    write_problem_ = reply.error().message;
    return std::unexpected(reply.error());
  }
  const Reply& refused = reply->at(2);
  write_problem_ = refused.none() ? std::string() : error_of(refused.text).message;
  const WallTime told =
      wall_time_from_micros(reply->at(0).number() * 1'000'000 + reply->at(1).number());
  clock_.learn(told, asked);
  return told;
}

Answer<void> RedisStore::leave(const std::string& replica) {
  return tell(Command("DEL", "fairlead:alive:" + replica));
}

// --- Messages ------------------------------------------------------------------------------------

Answer<Sequence> RedisStore::enqueue(Message message, WallTime now) {
  Command enqueue = script(Script::kEnqueue);
  enqueue.add(now);
  enqueue.add(encode(StoredMessage{Sequence(), std::move(message), true, now}));
  return ask<Sequence>(
      enqueue, [](Reply reply) { return Result<Sequence>(Sequence(reply.unsigned_number())); });
}

Answer<void> RedisStore::forget(std::vector<Sequence> messages) {
  if (messages.empty()) return Result<void>{};
  std::vector<std::string> names;
  for (Sequence sequence : messages) names.push_back(sequence_name(sequence));
  Command forget = script(Script::kForget);
  add_list(forget, names);
  return tell(forget);
}

Answer<std::vector<StoredMessage>> RedisStore::orphans(Duration age, size_t limit) {
  const WallTime now = clock_.wall();
  Command orphans = script(Script::kOrphans);
  orphans.add(now);
  orphans.add(now - age);
  orphans.add(std::min(limit, limits::kScanMax));
  return ask_messages(orphans);
}

Answer<std::vector<StoredMessage>> RedisStore::queued(size_t limit) {
  Command queued = script(Script::kQueued);
  queued.add(std::min(limit, limits::kScanMax));
  return ask_messages(queued);
}

Answer<std::vector<StoredMessage>> RedisStore::ask_messages(const Command& command) {
  using Messages = std::vector<StoredMessage>;
  return ask<Messages>(command, [self = std::weak_ptr(self_)](Reply reply) -> Result<Messages> {
    Messages found;
    std::vector<Unreadable> passed;
    for (size_t i = 0; i + 1 < reply.items.size(); i += 2) {
      if (reply.items[i + 1].none()) continue;
      auto message = decode_message(reply.items[i + 1].text);
      if (!message) {
        passed.push_back({"fairlead:messages " + reply.items[i].text, message.error().message});
        continue;
      }
      message->sequence = Sequence(reply.items[i].unsigned_number());
      found.push_back(*std::move(message));
    }
    if (auto alive = self.lock()) (*alive)->tell_unreadable(passed);
    return found;
  });
}

Answer<std::vector<bool>> RedisStore::processed(std::vector<std::string> marks) {
  using Found = std::vector<bool>;
  if (marks.empty()) return Found{};
  Command read("MGET");
  for (const std::string& mark : marks) read.add(processed_key(mark));
  return ask<Found>(read, [](Reply reply) -> Result<Found> {
    Found found;
    for (const Reply& item : reply.items) found.push_back(!item.none());
    return found;
  });
}

Answer<Sequence> RedisStore::reserve_sequences(uint64_t count) {
  return ask<Sequence>(Command("INCRBY", "fairlead:sequence", count), [count](Reply reply) {
    return Result<Sequence>(Sequence(reply.unsigned_number() - count + 1));
  });
}

// --- Timers --------------------------------------------------------------------------------------

Answer<std::vector<Timer>> RedisStore::due_timers(WallTime now, size_t limit) {
  using Timers = std::vector<Timer>;
  Command due = script(Script::kDueTimers);
  due.add(now);
  due.add(std::min(limit, limits::kScanMax));
  return ask<Timers>(due, [](Reply reply) -> Result<Timers> {
    Timers timers;
    for (Reply& item : reply.items) {
      timers.push_back({item.at(0).take_text(), wall_time_from_micros(item.at(1).number()),
                        item.at(2).take_text()});
    }
    return timers;
  });
}

// --- Dead letters --------------------------------------------------------------------------------

Answer<void> RedisStore::put_dead_letter(DeadLetter entry) {
  Command put = script(Script::kPutDeadLetter);
  put.add(entry.job);
  put.add(seconds_text(entry.created_at));
  put.add(dead_letter_json(entry));
  return tell(put);
}

Answer<std::optional<DeadLetter>> RedisStore::dead_letter(const JobId& job) {
  using Entry = std::optional<DeadLetter>;
  return ask<Entry>(Command("GET", "dlq:entry:" + job.str()), [job](Reply reply) -> Result<Entry> {
    if (reply.none()) return Entry{};
    return Entry(letter_of(job, reply.text, {}));
  });
}

Answer<std::vector<DeadLetter>> RedisStore::dead_letters(std::string cursor, size_t limit) {
  using Entries = std::vector<DeadLetter>;
  std::optional<Position> behind = parse_cursor(cursor);
  Command list = script(Script::kDeadLetters);
  list.add(behind ? seconds_text(behind->at) : std::string());
  list.add(behind ? behind->id : std::string());
  list.add(std::min(limit, limits::kScanMax));
  return ask<Entries>(list, [](Reply reply) -> Result<Entries> {
    Entries entries;
    for (Reply& item : reply.items) {
      const double seconds = std::strtod(item.at(1).text.c_str(), nullptr);
      entries.push_back(letter_of(JobId(item.at(0).text), item.at(2).text,
                                  wall_time_from_micros(std::llround(seconds * 1e6))));
    }
    return entries;
  });
}

Answer<bool> RedisStore::erase_dead_letter(const JobId& job) {
  Command erase = script(Script::kEraseDeadLetter);
  erase.add(job);
  return ask_whether(erase);
}

// --- Blobs and counters --------------------------------------------------------------------------

Answer<bool> RedisStore::put_blob(std::string key, Blob blob, BlobCondition condition) {
  if (blob.bytes.size() > limits::kBlobBytesMax) return too_large(key, blob);
  Command put("SET", key, blob.bytes);
  if (blob.expires) {
    put.add("PX");
    put.add(milliseconds(*blob.expires - clock_.wall()));
  }
  if (condition == BlobCondition::kIfAbsent) put.add("NX");
  if (condition == BlobCondition::kIfPresent) put.add("XX");
  return ask<bool>(put, [](Reply reply) { return Result<bool>(!reply.none()); });
}

Answer<bool> RedisStore::swap_blob(std::string key, std::optional<std::string> expected,
                                   Blob blob) {
  if (blob.bytes.size() > limits::kBlobBytesMax) return too_large(key, blob);
  Command swap = script(Script::kSwapBlob);
  swap.add(key);
  add_flag(swap, expected.has_value());
  swap.add(expected.value_or(""));
  swap.add(blob.bytes);
  if (blob.expires) {
    swap.add(milliseconds(*blob.expires - clock_.wall()));
  } else {
    swap.add("");
  }
  return ask_whether(swap);
}

Answer<std::optional<Blob>> RedisStore::blob(std::string key, size_t max) {
  using Found = std::optional<Blob>;
  Command read = script(Script::kBlob);
  read.add(key);
  read.add(max);
  return ask<Found>(read, [now = clock_.wall()](Reply reply) -> Result<Found> {
    if (reply.at(0).none()) return Found{};
    Blob blob{reply.at(0).take_text(), std::nullopt, reply.at(2).unsigned_number()};
    if (int64_t left = reply.at(1).number(); left >= 0) {
      blob.expires = now + std::chrono::milliseconds(left);
    }
    return Found(std::move(blob));
  });
}

Answer<bool> RedisStore::erase_blob(std::string key) {
  return ask_whether(Command("DEL", key));
}

Answer<int64_t> RedisStore::add(std::string counter, int64_t delta) {
  return ask<int64_t>(Command("INCRBY", "fairlead:counter:" + counter, delta),
                      [](Reply reply) { return Result<int64_t>(reply.number()); });
}

// --- What services share -------------------------------------------------------------------------

Answer<void> RedisStore::put_workers(Blob snapshot, std::vector<WorkerId> alive) {
  Command put = script(Script::kPutWorkers);
  put.add(kWorkersKey);
  put.add(snapshot.bytes);
  put.add(milliseconds(snapshot.expires.value_or(clock_.wall()) - clock_.wall()));
  put.add(alive.size());
  for (const WorkerId& worker : alive) put.add(worker);
  return tell(put);
}

Answer<BreakerAnswer> RedisStore::breaker(std::string name, BreakerEvent event, WallTime now) {
  Command breaker = script(Script::kBreaker);
  breaker.add(name);
  breaker.add(word_of(event));
  breaker.add(now);
  return ask<BreakerAnswer>(breaker, [](Reply reply) -> Result<BreakerAnswer> {
    BreakerAnswer answer{reply.at(0).number() == 1};
    if (!reply.at(1).none()) answer.open_until = wall_time_from_micros(reply.at(1).number());
    return answer;
  });
}

}  // namespace fairlead::store::redis
