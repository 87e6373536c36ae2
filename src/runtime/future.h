// Future<T> and Completer<T>: one value that a task waits for and somebody else gives.
//
// A function that starts something at once and answers later returns a Future; the one who will
// know the answer keeps the Completer. Either side may go away first: a completer whose future is
// gone completes into nothing, a future whose completer is gone never completes (its provider
// crashed). Both live on one loop's thread; a completion from another thread is posted to it by
// the name of an operation, never by a handle.
//
// T is a Result, so that a cancelled wait can say so.
#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/recycled.h"
#include "base/result.h"
#include "runtime/task.h"

namespace fairlead {

template <class T>
class Completer;

namespace detail {

template <class T>
struct FutureState : Recycled {
  std::optional<T> value;
  std::coroutine_handle<> waiter;
  TaskContext* context = nullptr;
  int references = 0;
  bool wanted = true;  // the future is still there

  void release() {
    if (--references == 0) delete this;
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Future final : public Suspension {
 public:
  // A future that is complete already: awaiting it does not suspend.
  template <class U>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::decay_t<U>, Future>)
  Future(U&& value) : ready_(std::in_place, std::forward<U>(value)) {}

  Future(Future&& other) noexcept
      : ready_(std::move(other.ready_)), state_(std::exchange(other.state_, nullptr)) {
    check(!state_ || !state_->waiter, "a future does not move while it is awaited");
  }
  Future& operator=(Future&&) = delete;
  ~Future() {
    if (!state_) return;
    if (state_->context && state_->context->waiting == this) state_->context->waiting = nullptr;
    state_->waiter = {};
    state_->wanted = false;
    state_->release();
  }

  bool await_ready() const noexcept { return ready_ || state_->value; }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    TaskContext* context = waiter.promise().context;
    if (context && context->cancelled) {
      cancelled_ = true;
      return false;
    }
    state_->waiter = waiter;
    state_->context = context;
    if (context) context->waiting = this;
    return true;
  }

  T await_resume() {
    if (cancelled_) return T(fail(ErrorCode::kCancelled, "the task was told to stop"));
    if (ready_) return std::move(*ready_);
    return std::move(*state_->value);
  }

  void cancel() override {
    cancelled_ = true;
    if (state_->context) state_->context->waiting = nullptr;
    std::exchange(state_->waiter, {}).resume();
  }

 private:
  friend class Completer<T>;
  explicit Future(detail::FutureState<T>* state) : state_(state) { ++state_->references; }

  std::optional<T> ready_;
  detail::FutureState<T>* state_ = nullptr;
  bool cancelled_ = false;
};

template <class T>
class Completer {
 public:
  Completer() : state_(new detail::FutureState<T>) { ++state_->references; }
  Completer(Completer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Completer& operator=(Completer&& other) noexcept {
    if (this != &other) {
      if (state_) state_->release();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Completer() {
    if (state_) state_->release();
  }

  // REQUIRES: called once.
  Future<T> future() { return Future<T>(state_); }

  // Gives the value and runs the waiting task, if it still waits. REQUIRES: called once.
  void complete(T value) {
    detail::FutureState<T>* state = std::exchange(state_, nullptr);
    check(state != nullptr, "an operation completes once");
    if (state->wanted) {
      state->value.emplace(std::move(value));
      if (auto waiter = std::exchange(state->waiter, {})) {
        if (state->context) state->context->waiting = nullptr;
        waiter.resume();
      }
    }
    state->release();
  }

  // Whether anybody would still see the value.
  bool wanted() const { return state_ && state_->wanted; }

 private:
  detail::FutureState<T>* state_;
};

}  // namespace fairlead
