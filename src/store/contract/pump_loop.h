// A loop for tests of stores with threads of their own: work from any thread is run by the test,
// time stands still until it is moved.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "base/check.h"
#include "runtime/clock.h"
#include "runtime/nursery.h"
#include "runtime/timer_queue.h"

namespace fairlead::store {

class PumpLoop final : public Loop {
 public:
  void post(Work work) override {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    arrived_.notify_one();
  }
  MonotonicTime now() const override { return MonotonicTime(Duration(micros_.load())); }
  TimerId call_at(MonotonicTime at, Work work) override { return timers_.add(at, std::move(work)); }
  void cancel(TimerId timer) override { timers_.remove(timer); }

  void advance(Duration duration) {
    micros_ += duration.count();
    while (Work work = timers_.take_due(now())) work();
  }

  // Runs what is posted, waiting for it if need be, until `done`.
  void run_until(const std::function<bool()>& done) {
    while (!done()) run_one();
  }
  // Runs what is posted now.
  void run_ready() {
    while (Work work = take(Duration(0))) work();
  }
  // Runs what is posted, and what comes, until nothing came for so long in real time.
  void run_until_quiet(Duration quiet) {
    while (Work work = take(quiet)) work();
  }

  template <class T>
  T wait(Future<T> future) {
    std::optional<T> value;
    Nursery nursery;
    nursery.spawn(keep(std::move(future), value));
    run_until([&] { return value.has_value(); });
    return *std::move(value);
  }

 private:
  template <class T>
  static Task<void> keep(Future<T> future, std::optional<T>& into) {
    into.emplace(co_await future);
  }

  void run_one() {
    Work work = take(std::chrono::seconds(60));
    check(static_cast<bool>(work), "something happens within a minute");
    work();
  }

  Work take(Duration patience) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, patience, [this] { return !posted_.empty(); });
    if (posted_.empty()) return {};
    Work work = std::move(posted_.front());
    posted_.pop_front();
    return work;
  }

  std::atomic<int64_t> micros_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> posted_;
  TimerQueue timers_;
};

class ManualClock final : public Clock {
 public:
  WallTime wall() const override { return wall_; }
  MonotonicTime monotonic() const override { return monotonic_; }
  void advance(Duration duration) {
    wall_ += duration;
    monotonic_ += duration;
  }
  void set_wall(WallTime wall) { wall_ = wall; }

 private:
  WallTime wall_ = wall_time_from_micros(1'700'000'000'000'000);
  MonotonicTime monotonic_{Duration(1)};
};

}  // namespace fairlead::store
