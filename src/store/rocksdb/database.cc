#include "store/rocksdb/database.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/core.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include "store/rocksdb/log_damage.h"
#include "store/rocksdb/tuning.h"
#include "store/rocksdb/upgrade.h"

namespace fairlead::store {

namespace {

constexpr std::string_view kMagicKey = "magic";
constexpr std::string_view kMagic = "fairlead";

// In the data folder: the database, one that is being made, and the lock of its maker.
constexpr std::string_view kDatabaseName = "db";
constexpr std::string_view kUnfinishedName = "db.creating";
constexpr std::string_view kMakersLockName = "LOCK";

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

// Says nothing: RocksDB would otherwise open a log file in a folder that may not be ours.
class Silence final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

std::unexpected<Error> read_failed(const rocksdb::Status& status) {
  return fail(status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kUnavailable,
              fmt::format("the data folder cannot be read: {}", status.ToString()));
}

// The steps of opening one data folder.
class Folder {
 public:
  explicit Folder(const RocksOptions& options)
      : options_(options),
        env_(options.env ? options.env : rocksdb::Env::Default()),
        database_(fmt::format("{}/{}", options.path, kDatabaseName)),
        unfinished_(fmt::format("{}/{}", options.path, kUnfinishedName)) {}

  Result<std::unique_ptr<Database>> open(const Database::Inspect& inspect) {
    if (!env_->FileExists(database_).ok()) {
      if (auto made = create(); !made) return std::unexpected(made.error());
    }
    if (auto free = check_unused(); !free) return std::unexpected(free.error());
    if (auto ours = check_database(inspect); !ours) return std::unexpected(ours.error());
    auto database = open_for_writing();
    if (!database || format_ == kFormat) return database;
    if (auto upgraded = upgrade(**database); !upgraded) {
      return refuse(upgraded.error().code, "cannot be brought to this version: {}",
                    upgraded.error().message);
    }
    return database;
  }

 private:
  Result<void> create();
  rocksdb::Status make_database();
  Result<void> check_foreign_files() const;
  Result<void> check_unused() const;
  Result<void> check_database(const Database::Inspect& inspect);
  Result<void> check_stamp(const Database& database);
  // Those that are there: an older Fairlead did not have the last ones.
  std::vector<rocksdb::ColumnFamilyDescriptor> present_families() const;
  Result<std::unique_ptr<Database>> open_for_reading() const;
  bool log_is_damaged() const;
  Result<std::unique_ptr<Database>> open_for_writing() const;

  template <class... Args>
  std::unexpected<Error> refuse(ErrorCode code, fmt::format_string<Args...> why,
                                Args&&... args) const {
    return fail(code, fmt::format("data folder {}: {}", options_.path,
                                  fmt::format(why, std::forward<Args>(args)...)));
  }

  std::unexpected<Error> refuse_used(const rocksdb::Status& status) const {
    return refuse(ErrorCode::kUnavailable, "another process uses it, or it may not be written ({})",
                  status.ToString());
  }

  const RocksOptions& options_;
  rocksdb::Env* env_;
  std::string database_;
  std::string unfinished_;
  size_t families_present_ = kFamilies;
  int format_ = kFormat;
};

Result<void> Folder::create() {
  std::error_code error;
  std::filesystem::create_directories(options_.path, error);
  if (error) return refuse(ErrorCode::kUnavailable, "cannot be made: {}", error.message());
  if (auto empty = check_foreign_files(); !empty) return empty;

  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status status =
      env_->LockFile(fmt::format("{}/{}", options_.path, kMakersLockName), &lock);
  if (!status.ok()) return refuse_used(status);
  // Somebody else may have made it meanwhile.
  if (!env_->FileExists(database_).ok()) status = make_database();
  env_->UnlockFile(lock).PermitUncheckedError();
  if (!status.ok()) {
    return refuse(ErrorCode::kUnavailable, "cannot be written: {}", status.ToString());
  }
  return {};
}

rocksdb::Status Folder::make_database() {
  std::error_code error;
  std::filesystem::remove_all(unfinished_, error);
  if (error) return rocksdb::Status::IOError(error.message());

  rocksdb::Options creation(database_options(options_), rocksdb::ColumnFamilyOptions());
  creation.create_if_missing = true;
  // All but the first in one call: one by one, RocksDB would write and verify its options each
  // time.
  std::vector<rocksdb::ColumnFamilyDescriptor> others = families(options_);
  std::vector<rocksdb::ColumnFamilyDescriptor> first{others.front()};
  others.erase(others.begin());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(creation, unfinished_, first, &handles, &db);
  if (!status.ok()) return status;
  std::vector<rocksdb::ColumnFamilyHandle*> more;
  status = db->CreateColumnFamilies(others, &more);
  handles.insert(handles.end(), more.begin(), more.end());
  rocksdb::WriteBatch stamp;
  if (status.ok()) status = stamp.Put(slice(kMagicKey), slice(kMagic));
  if (status.ok()) status = stamp.Put(slice(kFormatKey), std::to_string(kFormat));
  rocksdb::WriteOptions synced;
  synced.sync = true;
  if (status.ok()) status = db->Write(synced, &stamp);
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  rocksdb::Status closed = db->Close();
  delete db;
  if (status.ok()) status = closed;

  if (status.ok()) status = env_->RenameFile(unfinished_, database_);
  std::unique_ptr<rocksdb::Directory> folder;
  if (status.ok()) status = env_->NewDirectory(options_.path, &folder);
  if (status.ok()) status = folder->Fsync();
  return status;
}

Result<void> Folder::check_foreign_files() const {
  std::vector<std::string> names;
  rocksdb::Status status = env_->GetChildren(options_.path, &names);
  if (!status.ok()) {
    return refuse(ErrorCode::kUnavailable, "cannot be read: {}", status.ToString());
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    if (name == kUnfinishedName || name == kMakersLockName) continue;
    return refuse(ErrorCode::kInvalid,
                  "it has no Fairlead database but holds other files ({}); name an empty folder",
                  name);
  }
  return {};
}

// The lock is RocksDB's own; it is tried first so that nothing is read while another process
// writes.
Result<void> Folder::check_unused() const {
  std::string lock_name = database_ + "/LOCK";
  if (!env_->FileExists(lock_name).ok()) return {};
  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status status = env_->LockFile(lock_name, &lock);
  if (status.ok()) status = env_->UnlockFile(lock);
  if (!status.ok()) return refuse_used(status);
  return {};
}

Result<void> Folder::check_database(const Database::Inspect& inspect) {
  rocksdb::DBOptions reading = database_options(options_);
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(reading, database_, &names);
  if (!status.ok()) {
    return refuse(ErrorCode::kCorrupt, "the database is damaged: {}; nothing was changed",
                  status.ToString());
  }
  for (size_t i = 0; i < kFamilies; ++i) {
    const char* name = family_name(static_cast<Family>(i));
    if (std::ranges::find(names, name) != names.end()) continue;
    if (i >= kFamiliesOfFormat1) {
      families_present_ = i;
      break;
    }
    return refuse(ErrorCode::kInvalid,
                  "it holds a RocksDB database of something else (no family \"{}\"); name another "
                  "folder",
                  name);
  }
  auto database = open_for_reading();
  if (!database) return std::unexpected(database.error());
  if (auto stamp = check_stamp(**database); !stamp) return stamp;
  if (auto inspected = inspect(**database); !inspected) {
    return refuse(inspected.error().code, "{}; nothing was changed", inspected.error().message);
  }
  return {};
}

std::vector<rocksdb::ColumnFamilyDescriptor> Folder::present_families() const {
  std::vector<rocksdb::ColumnFamilyDescriptor> present = families(options_);
  present.resize(families_present_);
  return present;
}

Result<void> Folder::check_stamp(const Database& database) {
  auto magic = database.get(Family::kMeta, kMagicKey);
  auto stamp = database.get(Family::kMeta, kFormatKey);
  if (!magic || !stamp) {
    return refuse(ErrorCode::kCorrupt, "{}", (!magic ? magic.error() : stamp.error()).message);
  }
  if (*magic != kMagic || !*stamp) {
    return refuse(ErrorCode::kInvalid,
                  "it holds a RocksDB database of something else (no stamp of Fairlead); name "
                  "another folder");
  }
  format_ = 0;
  const std::string& text = **stamp;
  std::from_chars(text.data(), text.data() + text.size(), format_);
  if (format_ > kFormat) {
    return refuse(ErrorCode::kInvalid,
                  "it was written by a newer Fairlead (format {}, this one knows {}); use that one",
                  format_, kFormat);
  }
  if (format_ < 1) return refuse(ErrorCode::kCorrupt, "its format is \"{}\", which is none", text);
  if (format_ == kFormat && families_present_ < kFamilies) {
    return refuse(ErrorCode::kCorrupt, "a part of the database is gone; nothing was changed");
  }
  return {};
}

Result<std::unique_ptr<Database>> Folder::open_for_reading() const {
  rocksdb::DBOptions reading = database_options(options_);
  reading.info_log = std::make_shared<Silence>();
  std::unique_ptr<Database> database(new Database);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status;
  // The strict way first; the other only for a log that ends with what was never acknowledged.
  for (auto mode : {rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords,
                    rocksdb::WALRecoveryMode::kPointInTimeRecovery}) {
    reading.wal_recovery_mode = mode;
    status = rocksdb::DB::OpenForReadOnly(rocksdb::Options(reading, {}), database_,
                                          present_families(), &handles, &database->db_);
    if (!status.IsCorruption() || log_is_damaged()) break;
  }
  if (!status.ok()) {
    return refuse(ErrorCode::kCorrupt, "the database is damaged: {}; nothing was changed",
                  status.ToString());
  }
  std::ranges::copy(handles, database->handles_.begin());
  return database;
}

bool Folder::log_is_damaged() const {
  std::vector<std::string> names;
  env_->GetChildren(database_, &names).PermitUncheckedError();
  std::ranges::sort(names);
  std::vector<std::string> logs;
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    rocksdb::Status status =
        rocksdb::ReadFileToString(env_, database_ + "/" + name, &logs.emplace_back());
    if (!status.ok()) return true;
  }
  return damaged_before_its_end(logs);
}

Result<std::unique_ptr<Database>> Folder::open_for_writing() const {
  std::unique_ptr<Database> database(new Database);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Options writing(database_options(options_), {});
  writing.create_missing_column_families = families_present_ < kFamilies;
  rocksdb::Status status =
      rocksdb::DB::Open(writing, database_, families(options_), &handles, &database->db_);
  if (!status.ok()) {
    return refuse(status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kUnavailable,
                  "the database cannot be opened: {}", status.ToString());
  }
  std::ranges::copy(handles, database->handles_.begin());
  return database;
}

Result<std::unique_ptr<Database>> Database::open(const RocksOptions& options,
                                                 const Inspect& inspect) {
  return Folder(options).open(inspect);
}

Database::~Database() {
  if (!db_) return;
  for (auto* handle : handles_) {
    if (handle) db_->DestroyColumnFamilyHandle(handle);
  }
  db_->Close();
  delete db_;
}

uint64_t Database::memory_bytes() const {
  uint64_t sum = 0;
  db_->GetIntProperty(handle(Family::kLive), rocksdb::DB::Properties::kBlockCacheUsage, &sum);
  for (rocksdb::ColumnFamilyHandle* family : handles_) {
    for (const std::string& property : {rocksdb::DB::Properties::kCurSizeAllMemTables,
                                        rocksdb::DB::Properties::kEstimateTableReadersMem}) {
      uint64_t bytes = 0;
      if (db_->GetIntProperty(family, property, &bytes)) sum += bytes;
    }
  }
  return sum;
}

Result<std::optional<std::string>> Database::get(Family family, std::string_view key) const {
  std::string value;
  rocksdb::Status status = db_->Get({}, handle(family), slice(key), &value);
  if (status.ok()) return std::optional(std::move(value));
  if (status.IsNotFound()) return std::optional<std::string>{};
  return read_failed(status);
}

std::unique_ptr<rocksdb::Iterator> Database::iterate(Family family) const {
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator({}, handle(family)));
}

Result<void> Database::for_each(
    Family family,
    const std::function<Result<void>(std::string_view key, std::string_view value)>& visit) const {
  rocksdb::ReadOptions once;
  once.fill_cache = false;
  once.readahead_size = 2 << 20;
  std::unique_ptr<rocksdb::Iterator> each(db_->NewIterator(once, handle(family)));
  for (each->SeekToFirst(); each->Valid(); each->Next()) {
    auto seen = visit(each->key().ToStringView(), each->value().ToStringView());
    if (!seen) return seen;
  }
  if (!each->status().ok()) return read_failed(each->status());
  return {};
}

}  // namespace fairlead::store
