// Calls on their way to the disk, in the order in which they were made.
//
// A call appends its puts and ends with when_durable or in_order: that makes it an operation with a
// number. Once per turn of the loop (earlier when many have gathered and the committer has nothing
// to do, later when nobody waits for any of them) the operations go to the committer; when it
// reports a number, every operation up to it is completed, on the loop's thread. Completers never
// leave that thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/future.h"
#include "runtime/loop.h"
#include "store/rocksdb/committer.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/rocks_options.h"

namespace fairlead::store {

class Operations {
 public:
  // `settled` is called after operations were completed.
  Operations(Database& database, const RocksOptions& options, Loop& loop,
             std::function<void()> settled);
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  // Everything called so far becomes durable; what is still open is never completed.
  ~Operations();

  // Why nothing more can be taken now, if so; `new_work` asks for space on the disk as well.
  std::optional<Error> push_back(bool new_work) const;

  // Where the operation that is being made puts what it changes.
  Puts& puts();
  // The number that it will have.
  uint64_t next() const { return last_ + 1; }
  // The last one that is durable.
  uint64_t durable() const { return durable_; }

  // kNone: it may wait for another that has some, limits::kCommitPutOffMax at the most.
  enum class Haste { kNone, kAtOnce };

  // Ends the operation: its answer is given when it is durable. `bytes` count as waiting until
  // then.
  template <class T>
  Future<Result<T>> when_durable(Result<T> answer, size_t bytes = 0, Haste haste = Haste::kAtOnce);

  // Ends the operation with a task that runs on the committer's thread, after all puts before it
  // and before all behind it; `finish` makes the answer of its outcome, on the loop's thread.
  template <class Task, class Finish>
  auto in_order(Task task, Finish finish, size_t bytes = 0);
  template <class Task>
  auto in_order(Task task, size_t bytes = 0) {
    using Outcome = std::invoke_result_t<Task&, const Database&, Puts&>;
    return in_order(std::move(task), [](Outcome outcome) { return outcome; }, bytes);
  }

  // Those on their way to the disk: they will be completed without more time passing.
  size_t outstanding() const { return put_off_ ? handed_over_ - durable_ : waiting_.size(); }
  Committer::Statistics statistics() const { return committer_->statistics(); }

 private:
  struct Waiting {
    std::move_only_function<void()> complete;
    size_t bytes = 0;
  };

  Committer::Step& step();
  void enlist(std::move_only_function<void()> complete, size_t bytes, Haste haste = Haste::kAtOnce);
  void put_off();
  void hand_over();
  void complete_until(uint64_t operation);

  const RocksOptions& options_;
  Loop& loop_;
  std::function<void()> settled_;

  std::vector<Committer::Step> turn_;  // collected since the last handing over
  std::deque<Waiting> waiting_;        // operations durable_ + 1 … last_
  size_t waiting_bytes_ = 0;
  bool hand_over_posted_ = false;
  // When those that nobody waits for go; while it is set there are no others.
  std::optional<TimerId> put_off_;
  uint64_t last_ = 0;
  uint64_t handed_over_ = 0;
  uint64_t durable_ = 0;

  // What is posted to the loop looks here first: this may be gone.
  std::shared_ptr<Operations*> self_;
  std::unique_ptr<Committer> committer_;
};

template <class T>
Future<Result<T>> Operations::when_durable(Result<T> answer, size_t bytes, Haste haste) {
  Completer<Result<T>> completer;
  Future<Result<T>> future = completer.future();
  enlist([completer = std::move(completer),
          answer = std::move(answer)]() mutable { completer.complete(std::move(answer)); },
         bytes, haste);
  return future;
}

template <class Task, class Finish>
auto Operations::in_order(Task task, Finish finish, size_t bytes) {
  using Outcome = std::invoke_result_t<Task&, const Database&, Puts&>;
  using Given = std::invoke_result_t<Finish&, Outcome>;
  // Written by the committer, read by the loop after the committer has reported.
  auto outcome = std::make_shared<std::optional<Outcome>>();
  step().task = [outcome, task = std::move(task)](const Database& database, Puts& more) mutable {
    outcome->emplace(task(database, more));
  };
  Completer<Given> completer;
  Future<Given> future = completer.future();
  enlist([completer = std::move(completer), finish = std::move(finish),
          outcome]() mutable { completer.complete(finish(**std::move(outcome))); },
         bytes);
  return future;
}

}  // namespace fairlead::store
