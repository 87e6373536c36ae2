#include "store/rocksdb/reading.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

#include <rocksdb/iterator.h>

#include "base/limits.h"
#include "job/codec.h"
#include "store/cursor.h"
#include "store/rocksdb/keys.h"

namespace fairlead::store {

namespace {

Result<std::vector<job::Record>> read_all(const Database& database, Family family,
                                          const std::vector<JobId>& jobs) {
  std::vector<job::Record> records;
  for (const JobId& job : jobs) {
    auto record = read_record(database, family, job);
    if (!record) return std::unexpected(record.error());
    if (*record) records.push_back(**std::move(record));
  }
  return records;
}

// Ended jobs of a trace, oldest first, behind the position.
Result<std::vector<JobId>> ended_of_trace(const Database& database, const TraceId& trace,
                                          const std::optional<Position>& behind, size_t limit) {
  std::string prefix = trace_prefix(trace);
  auto each = database.iterate(Family::kTrace);
  each->Seek(behind ? trace_key(trace, behind->at, JobId(behind->id)) + '\0' : prefix);
  std::vector<JobId> jobs;
  for (; each->Valid() && each->key().starts_with(prefix) && jobs.size() < limit; each->Next()) {
    auto key = parse_time_key(each->key().ToStringView().substr(prefix.size()));
    if (!key) return fail(ErrorCode::kCorrupt, "a key of a trace makes no sense");
    jobs.emplace_back(std::move(key->name));
  }
  if (!each->status().ok()) return read_failed(each->status());
  return jobs;
}

// The first `limit` of the records, which are in order, with the cursor to what follows.
Page cut(std::vector<job::Record> records, const Query& query) {
  Page page{std::move(records), {}};
  if (page.records.size() < query.limit || !is_paged(query.by)) return page;
  page.records.resize(query.limit);
  if (!page.records.empty()) page.next = to_cursor(position_of(page.records.back(), query.by));
  return page;
}

// Oldest first, live and ended alike.
Result<Page> trace_page(const Database& database, const Query& query,
                        std::vector<job::Record> records) {
  auto behind = parse_cursor(query.cursor);
  auto order = [](const job::Record& record) { return std::tie(record.created_at, record.id); };
  JobId last(behind ? behind->id : "");
  std::erase_if(records, [&](const job::Record& record) {
    return record.trace.str() != query.text ||
           (behind && order(record) <= std::tie(behind->at, last));
  });
  auto jobs = ended_of_trace(database, TraceId(query.text), behind, query.limit);
  if (!jobs) return std::unexpected(jobs.error());
  auto ended = read_all(database, Family::kEnded, *jobs);
  if (!ended) return std::unexpected(ended.error());
  std::ranges::move(*ended, std::back_inserter(records));
  std::ranges::sort(records, {}, order);
  return cut(std::move(records), query);
}

// What a retention that goes through a family by time may take.
struct Expiry {
  Family family;
  std::string prefix;  // of its keys, before their time
  WallTime until;      // inclusive
  size_t limit;
};

// Visits what is over, earliest first, and erases its range.
Result<size_t> retire_range(const Database& database, Puts& puts, const Expiry& expiry,
                            const std::function<Result<void>(const TimeKey&)>& visit) {
  auto each = database.iterate(expiry.family);
  std::string first;
  std::string last;
  size_t visited = 0;
  for (each->Seek(expiry.prefix); each->Valid() && visited < expiry.limit;
       each->Next(), ++visited) {
    if (!each->key().starts_with(expiry.prefix)) break;
    auto key = parse_time_key(each->key().ToStringView().substr(expiry.prefix.size()));
    if (!key) return fail(ErrorCode::kCorrupt, "a key by time makes no sense");
    if (key->at > expiry.until) break;
    if (auto gone = visit(*key); !gone) return std::unexpected(gone.error());
    if (first.empty()) first = each->key().ToString();
    last = each->key().ToString();
  }
  if (!each->status().ok()) return read_failed(each->status());
  if (visited > 0) puts.erase_range(expiry.family, first, last);
  return visited;
}

// The entry by time goes with its range.
void erase_ended(Puts& puts, const job::Record& record) {
  visit_entries(record, [&](Family family, const std::string& key) {
    if (family != Family::kEndedByTime) puts.erase(family, key);
  });
  if (!record.trace.empty()) {
    puts.erase(Family::kTrace, trace_key(record.trace, record.created_at, record.id));
  }
}

// State by state, those that ended until then.
Result<void> retire_jobs(const Database& database, Puts& puts, WallTime until, size_t limit,
                         Retired& retired) {
  auto retire = [&](const TimeKey& key) -> Result<void> {
    JobId job(key.name);
    auto record = read_record(database, Family::kEnded, job);
    if (!record) return std::unexpected(record.error());
    if (*record) {
      erase_ended(puts, **record);
      ++retired.in_state[static_cast<size_t>((*record)->state)];
    }
    puts.erase(Family::kEnded, job.str());
    puts.erase(Family::kRequest, job.str());
    retired.jobs.push_back(std::move(job));
    return {};
  };
  for (job::State state : job::kAllStates) {
    if (!job::is_terminal(state)) continue;
    Expiry expiry{Family::kEndedByTime, ended_prefix("", state), until,
                  limit - retired.jobs.size()};
    auto gone = retire_range(database, puts, expiry, retire);
    if (!gone) return std::unexpected(gone.error());
  }
  if (retired.jobs.empty()) return {};
  // Retention alone writes it, here, one after the other.
  auto before = read_counts(database, kRetiredKey);
  if (!before) return std::unexpected(before.error());
  std::ranges::transform(*before, retired.in_state, before->begin(), std::plus{});
  puts.put(Family::kMeta, kRetiredKey, encode(*before));
  return {};
}

}  // namespace

Result<StateCounts> read_counts(const Database& database, std::string_view key) {
  auto bytes = database.get(Family::kMeta, key);
  if (!bytes) return std::unexpected(bytes.error());
  if (!*bytes) return StateCounts{};
  return decode_state_counts(**bytes);
}

Result<std::optional<job::Record>> read_record(const Database& database, Family family,
                                               const JobId& job) {
  auto bytes = database.get(family, job.str());
  if (!bytes) return std::unexpected(bytes.error());
  if (!*bytes) return std::optional<job::Record>{};
  auto record = job::decode(**bytes);
  if (!record) return std::unexpected(record.error());
  return std::optional(*std::move(record));
}

Result<Page> read_page(const Database& database, const Query& query, const Table::Scanned& live) {
  auto records = read_all(database, Family::kLive, live.jobs);
  if (!records) return std::unexpected(records.error());
  if (query.by == Query::By::kTrace) return trace_page(database, query, *std::move(records));
  if (query.by == Query::By::kRecent) {
    auto ended = EndedJobs(database).recent(query);
    if (!ended) return std::unexpected(ended.error());
    std::erase_if(*records, [&](const job::Record& record) { return !query.only.takes(record); });
    return merge_recent({*std::move(records), live.visited, live.stopped}, *std::move(ended),
                        query.limit);
  }
  if (query.by == Query::By::kEnded) {
    auto ended = EndedJobs(database).latest(parse_cursor(query.cursor), query.limit);
    if (!ended) return std::unexpected(ended.error());
    return cut(*std::move(ended), query);
  }
  if (query.by == Query::By::kState) {
    auto state = job::parse_state(query.text);
    if (state && job::is_terminal(*state)) {
      return EndedJobs(database).in_state(*state, parse_cursor(query.cursor), query.limit);
    }
  }
  return cut(*std::move(records), query);
}

Result<Retired> retire_expired(const Database& database, Puts& puts, WallTime now,
                               Duration ended_job_ttl, size_t limit) {
  // The others have their share however many jobs there are.
  const size_t share = std::max<size_t>(1, limit / 4);
  const size_t most_jobs = limit > 2 * share ? limit - 2 * share : limit;
  Retired retired;
  if (auto jobs = retire_jobs(database, puts, now - ended_job_ttl, most_jobs, retired); !jobs) {
    return std::unexpected(jobs.error());
  }
  const size_t rest = limit - retired.jobs.size();

  auto keys =
      retire_range(database, puts, {Family::kIdempotencyByExpiry, "", now, std::min(share, rest)},
                   [&](const TimeKey& key) -> Result<void> {
                     auto bytes = database.get(Family::kIdempotency, key.name);
                     if (!bytes) return std::unexpected(bytes.error());
                     if (!*bytes) return {};
                     auto holder = decode_key_holder(**bytes);
                     if (!holder) return std::unexpected(holder.error());
                     if (holder->expires == key.at) puts.erase(Family::kIdempotency, key.name);
                     return {};
                   });
  if (!keys) return std::unexpected(keys.error());

  auto blobs = retire_range(database, puts, {Family::kBlobByExpiry, "", now, rest - *keys},
                            [&](const TimeKey& key) -> Result<void> {
                              auto bytes = database.get(Family::kBlob, key.name);
                              if (!bytes) return std::unexpected(bytes.error());
                              if (!*bytes) return {};
                              auto expires = decode_blob_expiry(**bytes);
                              if (!expires) return std::unexpected(expires.error());
                              if (*expires == key.at) puts.erase(Family::kBlob, key.name);
                              return {};
                            });
  if (!blobs) return std::unexpected(blobs.error());
  retired.count = retired.jobs.size() + *keys + *blobs;
  return retired;
}

}  // namespace fairlead::store
