#include "runtime/simulated_loop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace fairlead {

void SimulatedLoop::post(Work work) {
  if (std::this_thread::get_id() == owner_) {
    posted_.push_back(std::move(work));
    return;
  }
  {
    std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(work));
    has_inbox_.store(true, std::memory_order_release);
  }
  inbox_filled_.notify_one();
}

void SimulatedLoop::post_urgent(Work work) {
  posted_.push_front(std::move(work));
}

TimerId SimulatedLoop::call_at(MonotonicTime at, Work work) {
  return timers_.add(std::max(at, now()), std::move(work));
}

void SimulatedLoop::cancel(TimerId timer) {
  timers_.remove(timer);
}

void SimulatedLoop::take_inbox() {
  std::lock_guard lock(mutex_);
  for (Work& work : inbox_) posted_.push_back(std::move(work));
  inbox_.clear();
  has_inbox_.store(false, std::memory_order_relaxed);
}

void SimulatedLoop::wait_posted() {
  std::unique_lock lock(mutex_);
  inbox_filled_.wait(lock, [this] { return !inbox_.empty(); });
}

bool SimulatedLoop::run_one() {
  if (has_inbox_.load(std::memory_order_acquire)) take_inbox();
  Work work;
  if (!posted_.empty()) {
    work = std::move(posted_.front());
    posted_.pop_front();
  } else {
    work = timers_.take_due(now());
  }
  if (!work) return false;
  ++steps_;
  work();
  return true;
}

void SimulatedLoop::run_ready() {
  while (run_one()) {
  }
}

void SimulatedLoop::run_until(MonotonicTime until) {
  check(until >= now(), "virtual time does not go back");
  run_ready();
  while (timers_.next() && *timers_.next() <= until) {
    now_.store(*timers_.next(), std::memory_order_relaxed);
    run_ready();
  }
  now_.store(until, std::memory_order_relaxed);
}

}  // namespace fairlead
