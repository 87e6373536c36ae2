// The data folder: opens it, and before that makes sure that it is ours.
//
// A folder that is missing or empty becomes a database in one step (it is made beside its place and
// renamed), so that whatever stands there is whole. One that stands is first opened for reading
// only: names, format and everything that `inspect` reads are checked before a byte is written, and
// a folder that is foreign, newer or corrupt stays as it was.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/rocksdb/rocks_options.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Iterator;
class Status;
}  // namespace rocksdb

namespace fairlead::store {

// Column families. Keys are explained in keys.h, values in values.h and job/codec.h.
enum class Family : uint8_t {
  kMeta,                 // format, magic, sequence mark
  kLive,                 // job id -> record
  kEnded,                // job id -> record
  kEndedByTime,          // state, end time, job id -> mark (ended_jobs.h)
  kTrace,                // trace, creation time, job id -> nothing; ended jobs
  kRequest,              // job id -> the request's bytes
  kDeadLetter,           // job id -> entry
  kIdempotency,          // tenant, key -> holder
  kIdempotencyByExpiry,  // time, idempotency key -> nothing
  kBlob,                 // key -> blob
  kBlobByExpiry,         // time, blob key -> nothing; may be older than the blob's last put
  kMessage,              // sequence -> message
  kTimer,                // key -> timer
  kCounter,              // name -> number
  kEndedByQueue,         // tenant, topic, state, end time, job id -> mark
  kEndedByWorker,        // worker, state, end time, job id -> mark
};
inline constexpr size_t kFamilies = 16;

class Database {
 public:
  using Inspect = std::function<Result<void>(const Database&)>;

  // An error is one sentence that names the folder.
  static Result<std::unique_ptr<Database>> open(const RocksOptions& options,
                                                const Inspect& inspect);
  ~Database();

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return handles_[static_cast<size_t>(family)];
  }

  // Bytes that RocksDB itself holds: memtables, block cache, open tables.
  uint64_t memory_bytes() const;

  Result<std::optional<std::string>> get(Family family, std::string_view key) const;
  std::unique_ptr<rocksdb::Iterator> iterate(Family family) const;
  // Visits everything of a family, in order of keys, until an error.
  Result<void> for_each(
      Family family,
      const std::function<Result<void>(std::string_view key, std::string_view value)>& visit) const;

 private:
  Database() = default;

  rocksdb::DB* db_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> handles_{};

  friend class Folder;
};

// A read that RocksDB could not do.
std::unexpected<Error> read_failed(const rocksdb::Status& status);

}  // namespace fairlead::store
