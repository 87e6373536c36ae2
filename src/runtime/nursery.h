// A nursery owns running tasks: it counts them, can tell them to stop, and can drop them.
//
//   spawn   starts a task, which runs until it first waits;
//   cancel  resumes every task with an error at the co_await where it waits, and at every later
//           one: each returns in its own way, for a clean shutdown;
//   drop    destroys every task where it waits: what a crash leaves behind.
//
// One loop's thread. A nursery must not be dropped or destroyed by one of its own tasks.
#pragma once

#include <cstddef>
#include <list>

#include "runtime/future.h"
#include "runtime/task.h"

namespace fairlead {

class Nursery {
 public:
  Nursery() = default;
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  ~Nursery() { drop(); }

  // After cancel() nothing starts any more: the task is destroyed and false returned. A task that
  // ends with an exception stops the process: handlers catch what they can answer for.
  bool spawn(Task<void> task);

  size_t running() const { return children_.size(); }
  bool cancelled() const { return cancelled_; }

  // Completes when no task runs; at once when none does.
  Future<Result<void>> idle();

  void cancel();
  void drop();

 private:
  struct Child : TaskContext {
    Child(Nursery* owner, Task<void> given) : nursery(owner), task(std::move(given)) {}
    Nursery* nursery;
    Task<void> task;
    std::list<Child>::iterator self;
  };

  static void child_finished(TaskContext* context);
  void remove(std::list<Child>::iterator child);

  std::list<Child> children_;
  std::list<Completer<Result<void>>> idle_waiters_;
  bool cancelled_ = false;
};

}  // namespace fairlead
