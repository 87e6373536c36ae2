#include "store/rocksdb/ended_jobs.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include <rocksdb/iterator.h>

#include "base/limits.h"
#include "store/cursor.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/reading.h"

namespace fairlead::store {

namespace {

constexpr size_t kHashBytes = 4;
constexpr size_t kMarkBytes = 1 + 4 * kHashBytes;

// FNV-1a: what is stored must be the same in every build.
std::string stored_hash(std::string_view text) {
  uint32_t hash = 2166136261;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(hash >> shift));
  return bytes;
}

// None when the mark makes no sense.
std::optional<job::State> state_in(std::string_view mark) {
  if (mark.size() != kMarkBytes) return std::nullopt;
  auto number = static_cast<uint8_t>(mark[0]);
  if (number >= job::kAllStates.size()) return std::nullopt;
  return static_cast<job::State>(number);
}

std::vector<job::State> ended_states(const Only& only) {
  std::vector<job::State> states;
  for (job::State state : job::kAllStates) {
    if (job::is_terminal(state) && only.takes(state)) states.push_back(state);
  }
  return states;
}

}  // namespace

std::string ended_mark(const job::Record& record) {
  return static_cast<char>(record.state) + stored_hash(record.tenant.str()) +
         stored_hash(record.topic.str()) + stored_hash(record.team) +
         stored_hash(record.assignee.str());
}

bool may_be_taken(const Only& only, std::string_view mark) {
  auto state = state_in(mark);
  if (!state || !only.takes(*state)) return false;
  size_t at = 1;
  for (const std::string* text : {&only.tenant, &only.topic, &only.team, &only.worker}) {
    if (!text->empty() && mark.substr(at, kHashBytes) != stored_hash(*text)) return false;
    at += kHashBytes;
  }
  return true;
}

std::string encode(const StateCounts& counts) {
  std::string bytes;
  for (int64_t count : counts) bytes += number_key(static_cast<uint64_t>(count));
  return bytes;
}

Result<StateCounts> decode_state_counts(std::string_view bytes) {
  StateCounts counts{};
  constexpr size_t kBytes = sizeof(uint64_t);
  if (bytes.size() > counts.size() * kBytes || bytes.size() % kBytes != 0) {
    return fail(ErrorCode::kCorrupt, "the counts of ended jobs make no sense");
  }
  for (size_t i = 0; i * kBytes < bytes.size(); ++i) {
    counts[i] = static_cast<int64_t>(parse_number_key(bytes.substr(i * kBytes, kBytes)).value());
  }
  return counts;
}

// --- One walk ------------------------------------------------------------------------------------

void EndedJobs::Walk::seek_behind(const std::optional<Position>& behind) {
  std::string key = prefix;
  if (!behind) {
    key = behind_prefix(prefix);
  } else if (behind->ended) {
    key += time_key(behind->at, behind->id);
  } else {
    key += time_key(behind->at + Duration(1), "");
  }
  each->SeekForPrev(key);
  if (each->Valid() && each->key() == rocksdb::Slice(key)) each->Prev();
}

Result<bool> EndedJobs::Walk::read() {
  if (!each->status().ok()) return read_failed(each->status());
  if (!each->Valid() || !each->key().starts_with(prefix)) return false;
  auto key = parse_time_key(each->key().ToStringView().substr(prefix.size()));
  if (!key) return fail(ErrorCode::kCorrupt, "a key of an ended job makes no sense");
  at = key->at;
  job = std::move(key->name);
  return true;
}

// --- Many ----------------------------------------------------------------------------------------

Result<RecentPart> EndedJobs::recent(const Query& query) {
  const std::vector<job::State> states = ended_states(query.only);
  if (states.empty()) return RecentPart{};
  auto places = places_of(query.only);
  if (!places) return std::unexpected(places.error());
  std::vector<Walk> walks;
  for (const std::string& place : places->prefixes) {
    for (job::State state : states) {
      walks.push_back({ended_prefix(place, state), database_.iterate(places->family), {}, {}});
    }
  }
  return merge(std::move(walks), query);
}

Result<EndedJobs::Places> EndedJobs::places_of(const Only& only) {
  if (!only.worker.empty()) return Places{Family::kEndedByWorker, {worker_prefix(only.worker)}};
  if (!only.tenant.empty() || !only.topic.empty()) {
    auto queues = queues_of(only);
    if (!queues) return std::unexpected(queues.error());
    if (*queues) return Places{Family::kEndedByQueue, **std::move(queues)};
  }
  return Places{Family::kEndedByTime, {""}};
}

Result<RecentPart> EndedJobs::merge(std::vector<Walk> walks, const Query& query) {
  auto earlier = [](const Walk* a, const Walk* b) {
    return std::tie(a->at, a->job) < std::tie(b->at, b->job);
  };
  std::priority_queue<Walk*, std::vector<Walk*>, decltype(earlier)> latest(earlier);
  auto put = [&](Walk& walk) -> Result<void> {
    auto there = walk.read();
    if (!there) return std::unexpected(there.error());
    if (*there && walk.at >= query.only.since) latest.push(&walk);
    return {};
  };
  std::optional<Position> behind = parse_cursor(query.cursor);
  for (Walk& walk : walks) {
    walk.seek_behind(behind);
    if (auto added = put(walk); !added) return std::unexpected(added.error());
  }
  RecentPart part;
  while (!latest.empty()) {
    Walk& walk = *latest.top();
    latest.pop();
    ++part.visited;
    if (may_be_taken(query.only, walk.each->value().ToStringView())) {
      auto record = read_record(database_, Family::kEnded, JobId(walk.job));
      if (!record) return std::unexpected(record.error());
      if (*record && query.only.takes(**record)) part.records.push_back(**std::move(record));
    }
    if (part.records.size() >= query.limit || part.visited >= limits::kScanVisitsMax) {
      part.stopped = Position{walk.at, walk.job, true};
      break;
    }
    walk.each->Prev();
    if (auto added = put(walk); !added) return std::unexpected(added.error());
  }
  return part;
}

// Leaps from queue to queue.
Result<std::optional<std::vector<std::string>>> EndedJobs::queues_of(const Only& only) {
  using Prefixes = std::vector<std::string>;
  if (!only.tenant.empty() && !only.topic.empty()) {
    return std::optional(Prefixes{queue_prefix(only.tenant, only.topic)});
  }
  Prefixes found;
  Each each = database_.iterate(Family::kEndedByQueue);
  const std::string of_tenant = only.tenant.empty() ? "" : tenant_prefix(only.tenant);
  each->Seek(of_tenant);
  for (size_t leaps = 0; each->Valid() && each->key().starts_with(of_tenant); ++leaps) {
    if (leaps == limits::kScanQueuesMax) return std::optional<Prefixes>{};
    auto prefixes = parse_queue_prefixes(each->key().ToStringView());
    if (!prefixes) return fail(ErrorCode::kCorrupt, "a key of a queue makes no sense");
    if (only.topic.empty()) {
      found.emplace_back(prefixes->queue);
      each->Seek(behind_prefix(prefixes->queue));
      continue;
    }
    std::string tenant(prefixes->tenant);
    std::string wanted = tenant + tenant_prefix(only.topic);
    each->Seek(wanted);
    if (each->Valid() && each->key().starts_with(wanted)) found.push_back(std::move(wanted));
    each->Seek(behind_prefix(tenant));
  }
  if (!each->status().ok()) return read_failed(each->status());
  return std::optional(std::move(found));
}

Result<std::vector<job::Record>> EndedJobs::latest(const std::optional<Position>& behind,
                                                   size_t limit) {
  Query query{.limit = limit, .cursor = behind ? to_cursor(*behind) : ""};
  auto part = recent(query);
  if (!part) return std::unexpected(part.error());
  return std::move(part->records);
}

Result<Page> EndedJobs::in_state(job::State state, const std::optional<Position>& behind,
                                 size_t limit) {
  const std::string prefix = ended_prefix("", state);
  Each each = database_.iterate(Family::kEndedByTime);
  each->Seek(behind ? prefix + time_key(behind->at, behind->id) + '\0' : prefix);
  Page page;
  std::optional<TimeKey> last;
  for (; each->Valid() && each->key().starts_with(prefix); each->Next(), ++page.visited) {
    if (page.records.size() == limit) {
      if (last) page.next = to_cursor({last->at, last->name, true});
      return page;
    }
    last = parse_time_key(each->key().ToStringView().substr(prefix.size()));
    if (!last) return fail(ErrorCode::kCorrupt, "a key of an ended job makes no sense");
    auto record = read_record(database_, Family::kEnded, JobId(last->name));
    if (!record) return std::unexpected(record.error());
    if (*record) page.records.push_back(**std::move(record));
  }
  if (!each->status().ok()) return read_failed(each->status());
  return page;
}

}  // namespace fairlead::store
