// For tests: a bus in virtual time, and what its subscribers saw.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "runtime/simulated_loop.h"

namespace fairlead::bus {

using namespace std::chrono_literals;

class LoopClock final : public Clock {
 public:
  explicit LoopClock(const Loop& loop) : loop_(loop) {}
  WallTime wall() const override {
    return wall_time_from_micros(1'700'000'000'000'000) + loop_.now().time_since_epoch();
  }
  MonotonicTime monotonic() const override { return loop_.now(); }

 private:
  const Loop& loop_;
};

// A subscriber that notes what it gets and answers with the verdicts it was given, then with ack.
// `hold` makes it wait with its answers until `answer_all`.
struct Subscriber {
  std::deque<Verdict> verdicts;
  bool hold = false;
  std::vector<Delivery> got;
  std::vector<Completer<Result<void>>> waiting;
  size_t ended = 0;

  Handler handler() {
    return [this](Delivery delivery) -> Task<Verdict> {
      got.push_back(std::move(delivery));
      if (hold) {
        Result<void> told = co_await waiting.emplace_back().future();
        if (!told) co_return Verdict::nak(1s, told.error().message);
      }
      ++ended;
      if (verdicts.empty()) co_return Verdict::ack();
      Verdict verdict = std::move(verdicts.front());
      verdicts.pop_front();
      co_return verdict;
    };
  }
  void answer_all() {
    for (auto& each : std::exchange(waiting, {})) each.complete({});
  }
  std::vector<std::string> payloads() const {
    std::vector<std::string> all;
    for (const Delivery& delivery : got) all.push_back(delivery.payload);
    return all;
  }
};

// What a publisher was told, once it was.
using Told = std::shared_ptr<std::optional<Result<Published>>>;

template <class StoreType>
class LocalBusFixture : public testing::Test {
 protected:
  LocalBusFixture() { boot(); }

  // A new life on the same store.
  void boot() {
    bus = std::make_unique<LocalBus>(loop, clock, store);
    started.reset();
    publishers.spawn(note_start());
    loop.run_ready();
  }
  void crash() { bus->drop(); }

  Told publish(std::string_view subject, std::string payload, std::string id = {}) {
    auto told = std::make_shared<std::optional<Result<Published>>>();
    publishers.spawn(note(bus->publish(std::string(subject), std::move(payload), id), told));
    return told;
  }
  Told publish_now(std::string_view subject, std::string payload, std::string id = {}) {
    Told told = publish(subject, std::move(payload), std::move(id));
    loop.run_ready();
    return told;
  }

  std::unique_ptr<Subscription> subscribe(std::string_view subject, std::string_view queue,
                                          Subscriber& subscriber, SubscribeOptions options = {}) {
    options.queue = queue;
    return *bus->subscribe(std::string(subject), std::move(options), subscriber.handler());
  }

  SimulatedLoop loop;
  LoopClock clock{loop};
  StoreType store{clock};
  std::unique_ptr<LocalBus> bus;
  std::optional<Result<void>> started;
  Nursery publishers;

 private:
  Task<void> note_start() { started = co_await bus->start(); }
  static Task<void> note(Future<Result<Published>> answer, Told told) { *told = co_await answer; }
};

inline void expect_told(const Told& told, Published value) {
  ASSERT_TRUE(told->has_value()) << "the publisher still waits";
  ASSERT_TRUE((*told)->has_value()) << (**told).error().describe();
  EXPECT_EQ(***told, value);
}

}  // namespace fairlead::bus
