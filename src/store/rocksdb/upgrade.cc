#include "store/rocksdb/upgrade.h"

#include <string>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "job/codec.h"
#include "store/rocksdb/ended_jobs.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/reading.h"

namespace fairlead::store {

namespace {

constexpr int kBatch = 1000;

// Writes what was put, and begins anew.
Result<void> write(Database& database, rocksdb::WriteBatch& batch, bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  rocksdb::Status status = database.db().Write(options, &batch);
  batch.Clear();
  if (status.ok()) return {};
  return fail(ErrorCode::kUnavailable, status.ToString());
}

Result<void> put(const Database& database, rocksdb::WriteBatch& batch, Family family,
                 std::string_view key, std::string_view value) {
  rocksdb::Status status =
      batch.Put(database.handle(family), {key.data(), key.size()}, {value.data(), value.size()});
  if (status.ok()) return {};
  return fail(ErrorCode::kUnavailable, status.ToString());
}

// Takes away all entries of the indexes that an older form had, by other keys.
Result<void> clear_indexes(const Database& database, rocksdb::WriteBatch& batch) {
  for (Family family : {Family::kEndedByTime, Family::kEndedByQueue, Family::kEndedByWorker}) {
    rocksdb::Status status =
        batch.DeleteRange(database.handle(family), rocksdb::Slice(), behind_prefix(""));
    if (!status.ok()) return fail(ErrorCode::kUnavailable, status.ToString());
  }
  return {};
}

Result<void> put_entries(const Database& database, rocksdb::WriteBatch& batch,
                         const job::Record& record) {
  const std::string mark = ended_mark(record);
  Result<void> all;
  visit_entries(record, [&](Family family, const std::string& key) {
    if (auto one = put(database, batch, family, key, mark); !one) all = one;
  });
  return all;
}

}  // namespace

Result<void> upgrade(Database& database) {
  rocksdb::WriteBatch batch;
  if (auto cleared = clear_indexes(database, batch); !cleared) return cleared;
  StateCounts ended{};
  auto walked = database.for_each(Family::kEnded,
                                  [&](std::string_view, std::string_view bytes) -> Result<void> {
                                    auto record = job::decode(bytes);
                                    if (!record) return std::unexpected(record.error());
                                    ++ended[static_cast<size_t>(record->state)];
                                    auto entries = put_entries(database, batch, *record);
                                    if (!entries || batch.Count() < kBatch) return entries;
                                    return write(database, batch, false);
                                  });
  if (!walked) return walked;
  if (auto counts = put(database, batch, Family::kMeta, kEndedKey, encode(ended)); !counts) {
    return counts;
  }
  // Those that were retired are not among the counted.
  auto retired = put(database, batch, Family::kMeta, kRetiredKey, encode(StateCounts{}));
  if (!retired) return retired;
  auto stamped = put(database, batch, Family::kMeta, kFormatKey, std::to_string(kFormat));
  if (!stamped) return stamped;
  return write(database, batch, true);
}

}  // namespace fairlead::store
