// For tests against real servers: a loop in real time that runs until something has happened.
#pragma once

#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "runtime/asio_loop.h"
#include "runtime/nursery.h"

namespace fairlead::bus::nats {

using namespace std::chrono_literals;

class RealLoop {
 public:
  operator Loop&() { return loop_; }
  Loop& loop() { return loop_; }

  // True when it became true in time.
  bool run_until(const std::function<bool()>& done, Duration patience = 20s) {
    const MonotonicTime end = loop_.now() + patience;
    bool was_done = false;
    std::function<void()> look = [&] {
      was_done = done();
      if (was_done || loop_.now() >= end) {
        loop_.stop();
      } else {
        loop_.call_at(loop_.now() + 500us, look);
      }
    };
    loop_.post(look);
    loop_.run();
    return was_done;
  }
  // For what must not happen.
  void run_for(Duration duration) {
    run_until([] { return false; }, duration);
  }

  template <class Awaited>
  auto wait(Awaited awaited, Duration patience = 30s) {
    using Value = decltype(awaited.await_resume());
    std::optional<Value> value;
    Nursery nursery;
    nursery.spawn(keep(std::move(awaited), value));
    EXPECT_TRUE(run_until([&] { return value.has_value(); }, patience)) << "no answer";
    check(value.has_value(), "what a test waits for happens");
    return *std::move(value);
  }

 private:
  template <class Awaited, class Value>
  static Task<void> keep(Awaited awaited, std::optional<Value>& into) {
    into.emplace(co_await std::move(awaited));
  }

  AsioLoop loop_;
};

}  // namespace fairlead::bus::nats
