#include "runtime/nursery.h"

#include <exception>

namespace fairlead {

bool Nursery::spawn(Task<void> task) {
  if (cancelled_) return false;
  children_.emplace_back(this, std::move(task));
  Child& child = children_.back();
  child.self = std::prev(children_.end());
  child.finished = &Nursery::child_finished;
  child.task.start(&child);
  return true;
}

void Nursery::child_finished(TaskContext* context) {
  Child& child = static_cast<Child&>(*context);
  if (child.task.exception()) {
    try {
      std::rethrow_exception(child.task.exception());
    } catch (const std::exception& error) {
      check(false, error.what());
    } catch (...) {
      check(false, "a spawned task ended with an exception");
    }
  }
  child.nursery->remove(child.self);
}

void Nursery::remove(std::list<Child>::iterator child) {
  children_.erase(child);
  if (!children_.empty()) return;
  std::list<Completer<Result<void>>> waiters = std::move(idle_waiters_);
  idle_waiters_.clear();
  for (auto& waiter : waiters) waiter.complete({});
}

Future<Result<void>> Nursery::idle() {
  if (children_.empty()) return Result<void>{};
  return idle_waiters_.emplace_back().future();
}

void Nursery::cancel() {
  cancelled_ = true;
  for (Child& child : children_) child.cancelled = true;
  // Each resumption may end any of the tasks, so look for the next one afresh.
  while (true) {
    Child* waiting = nullptr;
    for (Child& child : children_) {
      if (child.waiting) {
        waiting = &child;
        break;
      }
    }
    if (!waiting) return;
    waiting->waiting->cancel();
  }
}

void Nursery::drop() {
  children_.clear();
  idle_waiters_.clear();
}

}  // namespace fairlead
