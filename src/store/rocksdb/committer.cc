#include "store/rocksdb/committer.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::store {

namespace {

// A larger batch gives its memory back.
constexpr size_t kBatchBytesKept = 4 << 20;

[[noreturn]] void stop_process(const std::string& path, const rocksdb::Status& status) {
  std::fprintf(stderr,
               "fairlead: data folder %s: a write failed (%s); stopping, because nothing more can "
               "be made durable. Everything acknowledged is on disk: start again when the folder "
               "can be written.\n",
               path.c_str(), status.ToString().c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

Committer::Committer(Database& database, const RocksOptions& options, const Loop& loop,
                     std::function<void(uint64_t)> durable)
    : database_(database),
      options_(options),
      loop_(loop),
      durable_(std::move(durable)),
      batch_(std::make_unique<rocksdb::WriteBatch>()),
      mark_{.run = database.db().GetLatestSequenceNumber()} {
  look_at_free_space();
  thread_ = Thread("committer", [this] { run(); });
}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  handed_over_.notify_one();
  thread_.join();
}

void Committer::hand_over(std::vector<Step> steps, uint64_t last_operation) {
  {
    std::lock_guard lock(mutex_);
    last_operation_ = last_operation;
    idle_.store(false, std::memory_order_relaxed);
    queue_.insert(queue_.end(), std::make_move_iterator(steps.begin()),
                  std::make_move_iterator(steps.end()));
  }
  handed_over_.notify_one();
}

void Committer::run() {
  std::vector<Step> steps;
  uint64_t reported = 0;
  while (true) {
    uint64_t last_operation = 0;
    {
      std::unique_lock lock(mutex_);
      idle_.store(last_operation_ == reported, std::memory_order_relaxed);
      handed_over_.wait_for(lock, limits::kFreeSpaceCheckEvery,
                            [&] { return stopping_ || last_operation_ > reported; });
      if (stopping_ && last_operation_ == reported) return;
      steps.swap(queue_);
      last_operation = last_operation_;
    }
    if (loop_.now() >= next_look_) look_at_free_space();
    if (last_operation == reported) continue;
    commit(steps);
    steps.clear();
    durable_(last_operation);
    reported = last_operation;
  }
}

void Committer::commit(std::vector<Step>& steps) {
  bool unsynced = false;
  ++mark_.commit;
  for (Step& step : steps) {
    step.puts.append_to(puts_);
    if (!step.task) continue;
    if (!puts_.empty()) {
      write(puts_, false);
      unsynced = true;
    }
    step.puts = {};
    step.task(database_, step.puts);
    step.puts.append_to(puts_);
  }
  if (!puts_.empty()) {
    write(puts_, options_.fsync);
  } else if (unsynced && options_.fsync) {
    rocksdb::Status status = database_.db().SyncWAL();
    if (!status.ok()) stop_process(options_.path, status);
  } else {
    return;
  }
  ++commits_;
}

void Committer::write(std::vector<Put>& puts, bool sync) {
  batch_->Clear();
  rocksdb::Status status = batch_->PutLogData(encode(mark_));
  check(status.ok(), "a batch takes its mark");
  add_sorted(puts, database_, *batch_);
  puts.clear();
  rocksdb::WriteOptions options;
  options.sync = sync;
  status = database_.db().Write(options, batch_.get());
  if (!status.ok()) stop_process(options_.path, status);
  puts_written_ += batch_->Count();
  if (batch_->GetDataSize() > kBatchBytesKept) batch_ = std::make_unique<rocksdb::WriteBatch>();
}

void Committer::look_at_free_space() {
  rocksdb::Env* env = options_.env ? options_.env : rocksdb::Env::Default();
  uint64_t free = 0;
  // Where it cannot be told, the disk counts as empty: a failing write will say so.
  if (!env->GetFreeSpace(options_.path, &free).ok()) free = UINT64_MAX;
  free_bytes_.store(free, std::memory_order_relaxed);
  next_look_ = loop_.now() + limits::kFreeSpaceCheckEvery;
}

}  // namespace fairlead::store
