// The loop: one thread on which a replica decides, and the source of its delays.
//
// AsioLoop runs in real time, SimulatedLoop in virtual time from a seed. What runs on a loop runs
// one piece at a time, so the logic needs no locks.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "base/time.h"
#include "runtime/task.h"

namespace fairlead {

struct TimerId {
  MonotonicTime at;
  uint64_t number = 0;
  auto operator<=>(const TimerId&) const = default;
};

class Loop {
 public:
  using Work = std::move_only_function<void()>;

  virtual ~Loop() = default;

  // Runs `work` on the loop, after what was posted before. Any thread.
  virtual void post(Work work) = 0;
  // The loop's own time, by which its timers fire. Any thread.
  virtual MonotonicTime now() const = 0;
  // Runs `work` at `at`, or as soon as possible if that has passed. Loop thread only.
  virtual TimerId call_at(MonotonicTime at, Work work) = 0;
  // Forgets a timer; one that has fired already is ignored. Loop thread only.
  virtual void cancel(TimerId timer) = 0;

  class Delay;
  // co_await loop.delay(1s): Result<void>, an error only when the task was cancelled.
  Delay delay(Duration duration);
};

class [[nodiscard]] Loop::Delay final : public Suspension {
 public:
  Delay(Loop& loop, Duration duration) : loop_(loop), duration_(duration) {}
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;
  ~Delay() { unlink(); }

  bool await_ready() const noexcept { return false; }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) {
    context_ = waiter.promise().context;
    if (context_ && context_->cancelled) {
      cancelled_ = true;
      return false;
    }
    waiter_ = waiter;
    if (context_) context_->waiting = this;
    timer_ = loop_.call_at(loop_.now() + duration_, [this] { resume(); });
    return true;
  }

  Result<void> await_resume() const {
    if (cancelled_) return fail(ErrorCode::kCancelled, "the task was told to stop");
    return {};
  }

  void cancel() override {
    cancelled_ = true;
    loop_.cancel(timer_);
    resume();
  }

 private:
  void resume() {
    if (context_) context_->waiting = nullptr;
    std::exchange(waiter_, {}).resume();
  }

  void unlink() {
    if (!waiter_) return;
    loop_.cancel(timer_);
    if (context_ && context_->waiting == this) context_->waiting = nullptr;
  }

  Loop& loop_;
  Duration duration_;
  TimerId timer_;
  TaskContext* context_ = nullptr;
  std::coroutine_handle<> waiter_;
  bool cancelled_ = false;
};

inline Loop::Delay Loop::delay(Duration duration) {
  return Delay(*this, duration);
}

}  // namespace fairlead
