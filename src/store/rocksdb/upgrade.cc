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

}  // namespace

Result<void> upgrade(Database& database, int) {
  rocksdb::WriteBatch batch;
  StateCounts ended{};
  auto walked = database.for_each(
      Family::kEnded, [&](std::string_view, std::string_view bytes) -> Result<void> {
        auto record = job::decode(bytes);
        if (!record) return std::unexpected(record.error());
        const std::string mark = ended_mark(*record);
        ++ended[static_cast<size_t>(record->state)];
        auto by_time = put(database, batch, Family::kEndedByTime,
                           time_key(record->updated_at, record->id.str()), mark);
        if (!by_time) return by_time;
        auto by_queue =
            put(database, batch, Family::kEndedByQueue,
                queue_key(record->tenant, record->topic, record->updated_at, record->id), mark);
        if (!by_queue || batch.Count() < kBatch) return by_queue;
        return write(database, batch, false);
      });
  if (!walked) return walked;
  if (auto counts = put(database, batch, Family::kMeta, kEndedKey, encode(ended)); !counts) {
    return counts;
  }
  auto stamped = put(database, batch, Family::kMeta, kFormatKey, std::to_string(kFormat));
  if (!stamped) return stamped;
  return write(database, batch, true);
}

}  // namespace fairlead::store
