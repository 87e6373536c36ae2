// Task<T>: a handler that reads from top to bottom and may wait at any co_await.
//
// A task starts when it is awaited, or when a Nursery spawns it. It lives on one loop's thread. It
// may be destroyed at any co_await: everything it waits for unlinks itself in its destructor, and
// destructors free memory and do nothing else, so that dropping a task is like a crash and not
// like an orderly end.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/recycled.h"

namespace fairlead {

// Something a task is suspended on that can be told to give up.
class Suspension {
 public:
  // Resumes the task with an error of code kCancelled, now.
  virtual void cancel() = 0;

 protected:
  ~Suspension() = default;
};

// What all coroutines of one spawned task share.
struct TaskContext {
  Suspension* waiting = nullptr;  // the innermost co_await, while suspended
  bool cancelled = false;         // every later co_await gives up at once
  void (*finished)(TaskContext*) = nullptr;
};

namespace detail {

class PromiseBase : public Recycled {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      PromiseBase& promise = handle.promise();
      if (promise.continuation) return promise.continuation;
      // The owner destroys this frame inside the call: nothing of it may be touched afterwards.
      if (promise.context && promise.context->finished) {
        promise.context->finished(promise.context);
      }
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept { exception = std::current_exception(); }

  TaskContext* context = nullptr;
  std::coroutine_handle<> continuation;
  std::exception_ptr exception;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::PromiseBase {
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    template <class U>
    void return_value(U&& given) {
      value.emplace(std::forward<U>(given));
    }
    std::optional<T> value;
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    handle_.promise().context = parent.promise().context;
    handle_.promise().continuation = parent;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
    return std::move(*handle_.promise().value);
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

template <>
class [[nodiscard]] Task<void> {
 public:
  struct promise_type : detail::PromiseBase {
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    void return_void() noexcept {}
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    handle_.promise().context = parent.promise().context;
    handle_.promise().continuation = parent;
    return handle_;
  }
  void await_resume() {
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
  }

  // For the Nursery: runs the task until it first waits.
  void start(TaskContext* context) {
    handle_.promise().context = context;
    handle_.resume();
  }
  // For the Nursery: what the finished task threw, if anything.
  std::exception_ptr exception() const { return handle_.promise().exception; }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

}  // namespace fairlead
