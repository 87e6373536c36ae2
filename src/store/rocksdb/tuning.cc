#include "store/rocksdb/tuning.h"

#include <algorithm>

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

namespace fairlead::store {

namespace {

constexpr int kLevels = 7;

// Families that are asked for one key, mostly for one that is not there.
bool wants_filter(Family family) {
  return family == Family::kLive || family == Family::kEnded || family == Family::kRequest ||
         family == Family::kIdempotency || family == Family::kBlob;
}

rocksdb::ColumnFamilyOptions family_options(const RocksOptions& options, Family family,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // Indexes and filters count into the cache, so that memory does not grow with the data.
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.block_size = 16 << 10;
  table.format_version = 5;
  if (wants_filter(family)) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));

  rocksdb::ColumnFamilyOptions family_options;
  family_options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family_options.write_buffer_size = options.memtable_bytes / 4;
  family_options.max_write_buffer_number = 4;
  // Young levels are rewritten soon; most of the bytes are in the old ones.
  bool lz4 = std::ranges::count(rocksdb::GetSupportedCompressions(), rocksdb::kLZ4Compression) > 0;
  family_options.compression_per_level.assign(kLevels, rocksdb::kNoCompression);
  if (lz4)
    std::fill_n(&family_options.compression_per_level[2], kLevels - 2, rocksdb::kLZ4Compression);
  if (wants_filter(family)) {
    family_options.memtable_prefix_bloom_size_ratio = 0.02;
    family_options.memtable_whole_key_filtering = true;
  }
  return family_options;
}

}  // namespace

const char* family_name(Family family) {
  switch (family) {
    case Family::kMeta:
      return "default";
    case Family::kLive:
      return "live";
    case Family::kEnded:
      return "ended";
    case Family::kEndedByTime:
      return "ended_by_time";
    case Family::kTrace:
      return "trace";
    case Family::kRequest:
      return "request";
    case Family::kDeadLetter:
      return "dead_letter";
    case Family::kIdempotency:
      return "idempotency";
    case Family::kIdempotencyByExpiry:
      return "idempotency_by_expiry";
    case Family::kBlob:
      return "blob";
    case Family::kBlobByExpiry:
      return "blob_by_expiry";
    case Family::kMessage:
      return "message";
    case Family::kTimer:
      return "timer";
    case Family::kCounter:
      return "counter";
    case Family::kEndedByQueue:
      return "ended_by_queue";
    case Family::kEndedByWorker:
      return "ended_by_worker";
  }
  return "";
}

rocksdb::DBOptions database_options(const RocksOptions& options) {
  rocksdb::DBOptions database;
  if (options.env) database.env = options.env;
  database.paranoid_checks = true;
  // A batch that was being written when the machine stopped ends the log; it was not acknowledged.
  // That nothing else ends it is checked before (log_damage.h). Log files are not recycled: RocksDB
  // 7.8 allows that only where it skips bad records.
  database.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  database.track_and_verify_wals_in_manifest = true;
  database.max_total_wal_size = options.log_bytes;
  database.db_write_buffer_size = options.memtable_bytes;
  database.max_background_jobs = 2;
  database.bytes_per_sync = 1 << 20;
  // One writer: nothing to gain from concurrent memtable writes.
  database.allow_concurrent_memtable_write = false;
  database.enable_write_thread_adaptive_yield = false;
  database.max_open_files = 512;
  // RocksDB starts this many threads for each family whenever it opens one, also for one without
  // files: its 16 make hundreds, and a start of half a second.
  database.max_file_opening_threads = 1;
  database.info_log_level = rocksdb::WARN_LEVEL;
  database.keep_log_file_num = 2;
  database.max_log_file_size = 4 << 20;
  database.stats_dump_period_sec = 0;
  database.stats_persist_period_sec = 0;
  return database;
}

std::vector<rocksdb::ColumnFamilyDescriptor> families(const RocksOptions& options) {
  auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < kFamilies; ++i) {
    auto family = static_cast<Family>(i);
    descriptors.emplace_back(family_name(family), family_options(options, family, cache));
  }
  return descriptors;
}

}  // namespace fairlead::store
