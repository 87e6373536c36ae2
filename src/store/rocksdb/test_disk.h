// A disk for tests, under RocksDB: real files, but the test decides what a sync is worth.
//
// It knows of every file how much of it was synced and whether its name was (a new file whose
// folder was not synced may vanish), and makes the image of what a machine that stopped now would
// find again. Nothing is really synced, so tests are fast. Besides it counts and holds syncs, fakes
// the free space, and fails writes to the log.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "runtime/random.h"

namespace fairlead::store {

class TestDisk final : public rocksdb::FileSystemWrapper {
 public:
  static std::shared_ptr<TestDisk> make() { return std::shared_ptr<TestDisk>(new TestDisk); }
  // The disk as RocksDB wants it; lives as long as the disk.
  rocksdb::Env* env() {
    std::lock_guard lock(mutex_);
    if (!env_) env_ = rocksdb::NewCompositeEnv(unowned());
    return env_.get();
  }
  const char* Name() const override { return "TestDisk"; }

  // How often a log file was synced.
  uint64_t log_syncs() const {
    std::lock_guard lock(mutex_);
    return log_syncs_;
  }
  // From now on nobody comes out of the sync of a log file; until released.
  void hold_log_syncs(bool hold) {
    std::lock_guard lock(mutex_);
    hold_ = hold;
    held_ = 0;
    changed_.notify_all();
  }
  // Returns when somebody is held.
  void wait_for_held_sync() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_ > 0; });
  }
  void set_free_bytes(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    free_bytes_ = bytes;
  }
  void fail_log_writes() {
    std::lock_guard lock(mutex_);
    failing_ = true;
  }

  // Copies to `to` what is left of the folder `from` if the machine stops now. With `tearing`,
  // files may keep a random part of what was not synced, and rubbish at its end; without, nothing.
  void crash_image(const std::string& from, const std::string& to, Random* tearing) {
    std::lock_guard lock(mutex_);
    std::filesystem::create_directories(to);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      std::string target = to + entry.path().string().substr(from.size());
      if (entry.is_directory()) {
        std::filesystem::create_directories(target);
      } else {
        copy_remains(entry.path().string(), target, tearing);
      }
    }
  }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    std::lock_guard lock(mutex_);
    auto status = target()->NewWritableFile(name, options, result, debug);
    if (!status.ok()) return status;
    auto file = std::make_shared<File>();
    file->is_log = name.ends_with(".log");
    files_[name] = file;
    *result = std::make_unique<Writing>(*this, std::move(file), std::move(*result));
    return status;
  }

  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override {
    auto status = target()->NewDirectory(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<Names>(*this, name, std::move(*result));
    return status;
  }

  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    std::lock_guard lock(mutex_);
    files_.erase(name);
    return target()->DeleteFile(name, options, debug);
  }

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    std::lock_guard lock(mutex_);
    auto status = target()->RenameFile(from, to, options, debug);
    if (!status.ok()) return status;
    std::map<std::string, std::shared_ptr<File>> moved;
    for (auto& [name, file] : files_) {
      bool inside = name == from || name.starts_with(from + "/");
      moved[inside ? to + name.substr(from.size()) : name] = file;
    }
    files_ = std::move(moved);
    return status;
  }

  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free, rocksdb::IODebugContext* debug) override {
    std::lock_guard lock(mutex_);
    if (free_bytes_ == kReal) return target()->GetFreeSpace(path, options, free, debug);
    *free = free_bytes_;
    return rocksdb::IOStatus::OK();
  }

 private:
  static constexpr uint64_t kReal = UINT64_MAX;

  struct File {
    uint64_t size = 0;
    uint64_t synced = 0;
    bool named = false;
    bool is_log = false;
  };

  class Writing final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    Writing(TestDisk& disk, std::shared_ptr<File> file,
            std::unique_ptr<rocksdb::FSWritableFile> real)
        : FSWritableFileOwnerWrapper(std::move(real)), disk_(disk), file_(std::move(file)) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      std::lock_guard lock(disk_.mutex_);
      if (disk_.failing_ && file_->is_log) return rocksdb::IOStatus::IOError("the disk is broken");
      file_->size += data.size();
      return target()->Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo&,
                             rocksdb::IODebugContext* debug) override {
      return Append(data, options, debug);
    }
    rocksdb::IOStatus Truncate(uint64_t size, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
      std::lock_guard lock(disk_.mutex_);
      file_->size = size;
      file_->synced = std::min(file_->synced, size);
      return target()->Truncate(size, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      std::unique_lock lock(disk_.mutex_);
      if (file_->is_log) {
        disk_.held_ += disk_.hold_;
        disk_.changed_.notify_all();
        disk_.changed_.wait(lock, [this] { return !disk_.hold_; });
        ++disk_.log_syncs_;
      }
      file_->synced = file_->size;
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                            rocksdb::IODebugContext* debug) override {
      return Sync(options, debug);
    }
    rocksdb::IOStatus RangeSync(uint64_t, uint64_t, const rocksdb::IOOptions&,
                                rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }

   private:
    TestDisk& disk_;
    std::shared_ptr<File> file_;
  };

  class Names final : public rocksdb::FSDirectoryWrapper {
   public:
    Names(TestDisk& disk, std::string folder, std::unique_ptr<rocksdb::FSDirectory> real)
        : FSDirectoryWrapper(std::move(real)), disk_(disk), folder_(std::move(folder)) {}

    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      std::lock_guard lock(disk_.mutex_);
      for (auto& [name, file] : disk_.files_) {
        if (std::filesystem::path(name).parent_path() == std::filesystem::path(folder_)) {
          file->named = true;
        }
      }
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options,
                                          rocksdb::IODebugContext* debug,
                                          const rocksdb::DirFsyncOptions&) override {
      return Fsync(options, debug);
    }

   private:
    TestDisk& disk_;
    std::string folder_;
  };

  TestDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  std::shared_ptr<rocksdb::FileSystem> unowned() { return {std::shared_ptr<void>(), this}; }

  void copy_remains(const std::string& from, const std::string& to, Random* tearing) {
    auto found = files_.find(from);
    if (found == files_.end()) {
      std::filesystem::copy_file(from, to);
      return;
    }
    const File& file = *found->second;
    if (!file.named && !(tearing && tearing->chance(2))) return;
    uint64_t unsynced = file.size - file.synced;
    uint64_t kept = tearing && unsynced > 0 ? tearing->below(unsynced + 1) : 0;
    std::string bytes(file.synced + kept, '\0');
    std::ifstream(from, std::ios::binary).read(bytes.data(), static_cast<int64_t>(bytes.size()));
    // The last block written may hold anything.
    if (kept > 0 && tearing->chance(2)) {
      uint64_t rubbish = 1 + tearing->below(std::min<uint64_t>(kept, 512));
      for (uint64_t i = bytes.size() - rubbish; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(tearing->below(256));
      }
    }
    std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::unique_ptr<rocksdb::Env> env_;
  uint64_t log_syncs_ = 0;
  uint64_t free_bytes_ = kReal;
  bool hold_ = false;
  int held_ = 0;
  bool failing_ = false;
};

}  // namespace fairlead::store
