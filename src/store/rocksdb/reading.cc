#include "store/rocksdb/reading.h"

#include <algorithm>
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

// Walks the ended jobs by time of ending.
class EndedJobs {
 public:
  explicit EndedJobs(const Database& database)
      : database_(database), each_(database.iterate(Family::kEndedByTime)) {}

  // Latest first, behind the position.
  Result<std::vector<job::Record>> latest(const std::optional<Position>& behind, size_t limit) {
    seek_behind(behind);
    std::vector<job::Record> records;
    for (; each_->Valid() && records.size() < limit; each_->Prev()) {
      if (auto taken = take(records); !taken) return std::unexpected(taken.error());
    }
    if (!each_->status().ok()) return read_failed(each_->status());
    return records;
  }

  // Latest first, only those in the state.
  Result<Page> latest_in_state(job::State state, const std::optional<Position>& behind,
                               size_t limit) {
    seek_behind(behind);
    Page page;
    std::optional<TimeKey> last;
    for (size_t visits = 0; each_->Valid(); each_->Prev(), ++visits) {
      if (page.records.size() == limit || visits == limits::kScanVisitsMax) {
        if (last) page.next = to_cursor({last->at, last->name, true});
        return page;
      }
      last = parse_time_key(each_->key().ToStringView());
      if (each_->value() != rocksdb::Slice(ended_value(state))) continue;
      if (auto taken = take(page.records); !taken) return std::unexpected(taken.error());
    }
    if (!each_->status().ok()) return read_failed(each_->status());
    return page;
  }

  // Earliest first, only those in the state.
  Result<Page> in_state(job::State state, const std::optional<Position>& behind, size_t limit) {
    each_->Seek(behind ? time_key(behind->at, behind->id) + '\0' : "");
    Page page;
    for (size_t visits = 0; each_->Valid(); each_->Next(), ++visits) {
      if (page.records.size() == limit || visits == limits::kScanVisitsMax) {
        each_->Prev();
        auto last = parse_time_key(each_->key().ToStringView());
        if (last) page.next = to_cursor({last->at, last->name, true});
        return page;
      }
      if (each_->value() != rocksdb::Slice(ended_value(state))) continue;
      if (auto taken = take(page.records); !taken) return std::unexpected(taken.error());
    }
    if (!each_->status().ok()) return read_failed(each_->status());
    return page;
  }

 private:
  // To the latest behind the position.
  void seek_behind(const std::optional<Position>& behind) {
    if (!behind) {
      each_->SeekToLast();
    } else if (behind->ended) {
      seek_before(time_key(behind->at, behind->id));
    } else {
      seek_before(time_key(behind->at + Duration(1), ""));
    }
  }

  void seek_before(const std::string& key) {
    each_->SeekForPrev(key);
    if (each_->Valid() && each_->key() == rocksdb::Slice(key)) each_->Prev();
  }

  Result<void> take(std::vector<job::Record>& into) {
    auto key = parse_time_key(each_->key().ToStringView());
    if (!key) return fail(ErrorCode::kCorrupt, "a key of an ended job makes no sense");
    auto record = read_record(database_, Family::kEnded, JobId(std::move(key->name)));
    if (!record) return std::unexpected(record.error());
    if (*record) into.push_back(**std::move(record));
    return {};
  }

  const Database& database_;
  std::unique_ptr<rocksdb::Iterator> each_;
};

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
  if (page.records.size() < query.limit) return page;
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

// Most recently changed first; of one time the live ones before the ended.
Result<Page> recent_page(const Database& database, const Query& query,
                         std::vector<job::Record> live) {
  auto ended = EndedJobs(database).latest(parse_cursor(query.cursor), query.limit);
  if (!ended) return std::unexpected(ended.error());
  std::vector<job::Record> records;
  std::merge(std::move_iterator(live.begin()), std::move_iterator(live.end()),
             std::move_iterator(ended->begin()), std::move_iterator(ended->end()),
             std::back_inserter(records), [](const job::Record& a, const job::Record& b) {
               return a.updated_at > b.updated_at;
             });
  return cut(std::move(records), query);
}

// What a retention that goes through a family by time may take.
struct Expiry {
  Family family;
  WallTime until;  // inclusive
  size_t limit;
};

// Visits what is over, earliest first, and erases its range.
Result<size_t> retire_range(const Database& database, Puts& puts, const Expiry& expiry,
                            const std::function<Result<void>(const TimeKey&)>& visit) {
  auto each = database.iterate(expiry.family);
  std::string first;
  std::string last;
  size_t visited = 0;
  for (each->SeekToFirst(); each->Valid() && visited < expiry.limit; each->Next(), ++visited) {
    auto key = parse_time_key(each->key().ToStringView());
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

}  // namespace

std::string ended_value(job::State state) {
  return std::string(1, static_cast<char>(state));
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

Result<Page> read_page(const Database& database, const Query& query,
                       const std::vector<JobId>& live) {
  auto records = read_all(database, Family::kLive, live);
  if (!records) return std::unexpected(records.error());
  if (query.by == Query::By::kTrace) return trace_page(database, query, *std::move(records));
  if (query.by == Query::By::kRecent) return recent_page(database, query, *std::move(records));
  if (query.by == Query::By::kEnded) {
    auto ended = EndedJobs(database).latest(parse_cursor(query.cursor), query.limit);
    if (!ended) return std::unexpected(ended.error());
    return cut(*std::move(ended), query);
  }
  if (query.by == Query::By::kState) {
    auto state = job::parse_state(query.text);
    if (state && job::is_terminal(*state) && query.latest_first) {
      return EndedJobs(database).latest_in_state(*state, parse_cursor(query.cursor), query.limit);
    }
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
  auto jobs = retire_range(database, puts, {Family::kEndedByTime, now - ended_job_ttl, most_jobs},
                           [&](const TimeKey& key) -> Result<void> {
                             JobId job(key.name);
                             auto record = read_record(database, Family::kEnded, job);
                             if (!record) return std::unexpected(record.error());
                             if (*record && !(*record)->trace.empty()) {
                               puts.erase(Family::kTrace,
                                          trace_key((*record)->trace, (*record)->created_at, job));
                             }
                             puts.erase(Family::kEnded, job.str());
                             puts.erase(Family::kRequest, job.str());
                             retired.jobs.push_back(std::move(job));
                             return {};
                           });
  if (!jobs) return std::unexpected(jobs.error());

  auto keys = retire_range(database, puts,
                           {Family::kIdempotencyByExpiry, now, std::min(share, limit - *jobs)},
                           [&](const TimeKey& key) -> Result<void> {
                             auto bytes = database.get(Family::kIdempotency, key.name);
                             if (!bytes) return std::unexpected(bytes.error());
                             if (!*bytes) return {};
                             auto holder = decode_key_holder(**bytes);
                             if (!holder) return std::unexpected(holder.error());
                             if (holder->expires == key.at)
                               puts.erase(Family::kIdempotency, key.name);
                             return {};
                           });
  if (!keys) return std::unexpected(keys.error());

  auto blobs = retire_range(database, puts, {Family::kBlobByExpiry, now, limit - *jobs - *keys},
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
  retired.count = *jobs + *keys + *blobs;
  return retired;
}

}  // namespace fairlead::store
