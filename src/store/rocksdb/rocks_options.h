// What a store under a data folder can be told.
#pragma once

#include <string>

#include "base/limits.h"
#include "base/time.h"

namespace rocksdb {
class Env;
}

namespace fairlead::store {

struct RocksOptions {
  std::string path;
  // Tests put a file system of their own under RocksDB; nullptr: the machine's. Not owned.
  rocksdb::Env* env = nullptr;
  // false: acknowledged work may be lost when the machine stops. For tests and comparisons.
  bool fsync = true;

  uint64_t disk_reserve_bytes = limits::kDiskReserveBytes;
  size_t memtable_bytes = limits::kMemtableBytesMax;
  size_t block_cache_bytes = limits::kBlockCacheBytes;
  size_t log_bytes = limits::kLogBytesMax;

  Duration ended_job_ttl = limits::kEndedJobTtl;
  Duration dead_letter_ttl = limits::kDlqEntryTtl;
  Duration idempotency_ttl = limits::kIdempotencyTtl;
  size_t dead_letters_max = limits::kDlqEntriesMax;
};

}  // namespace fairlead::store
