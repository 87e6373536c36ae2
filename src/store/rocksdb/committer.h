// The thread that makes changes durable. It takes everything that was handed over since it last
// looked, writes it with one synced write, and says how far it is; meanwhile the next batch forms.
//
//   loop thread    apply apply apply | hand over            | apply apply | hand over
//   committer                          write + sync, report               | write + sync, report
//
// A write to the log that fails ends the process: what is in memory is then ahead of the disk and
// nothing that was not acknowledged may be believed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/loop.h"
#include "runtime/thread.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/log_damage.h"
#include "store/rocksdb/puts.h"
#include "store/rocksdb/rocks_options.h"

namespace fairlead::store {

class Committer {
 public:
  // Reads the database as all steps before left it, and may add puts of its own. Runs on the
  // committer's thread.
  using Task = std::move_only_function<void(const Database&, Puts&)>;

  // Puts, then a task.
  struct Step {
    Puts puts;
    Task task;
  };

  struct Statistics {
    uint64_t commits = 0;  // synced writes
    uint64_t puts = 0;
  };

  // `durable` is called on the committer's thread with the last operation of what was written.
  Committer(Database& database, const RocksOptions& options, const Loop& loop,
            std::function<void(uint64_t)> durable);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  // Finishes what was handed over.
  ~Committer();

  void hand_over(std::vector<Step> steps, uint64_t last_operation);

  // Whether it waits for work.
  bool idle() const { return idle_.load(std::memory_order_relaxed); }
  // As last looked at, at most kFreeSpaceCheckEvery ago.
  uint64_t free_bytes() const { return free_bytes_.load(std::memory_order_relaxed); }
  Statistics statistics() const { return {commits_.load(), puts_written_.load()}; }

 private:
  void run();
  void commit(std::vector<Step>& steps);
  void write(std::vector<Put>& puts, bool sync);
  void look_at_free_space();

  Database& database_;
  const RocksOptions& options_;
  const Loop& loop_;
  std::function<void(uint64_t)> durable_;

  std::mutex mutex_;
  std::condition_variable handed_over_;
  std::vector<Step> queue_;
  uint64_t last_operation_ = 0;
  bool stopping_ = false;

  // The committer's own, kept for their memory.
  std::vector<Put> puts_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  CommitMark mark_;

  MonotonicTime next_look_;
  std::atomic<bool> idle_ = true;
  std::atomic<uint64_t> free_bytes_;
  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> puts_written_ = 0;
  Thread thread_;
};

}  // namespace fairlead::store
