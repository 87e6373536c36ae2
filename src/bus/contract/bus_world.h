// What every test of the contract stands on: a bus with all that it needs, and time that passes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "bus/bus.h"
#include "runtime/nursery.h"

namespace fairlead::bus {

using namespace std::chrono_literals;

class BusWorld {
 public:
  virtual ~BusWorld() = default;
  virtual Bus& bus() = 0;
  // Before a queue group subscribes to a durable subject.
  virtual void prepare(const std::string& subject, const std::string& queue) = 0;
  virtual void on_terminated(TerminatedHook hook) = 0;
  // Lets time pass until it is so; false: it did not come to that.
  virtual bool run_until(const std::function<bool()>& done) = 0;
  // Long enough for what is on its way to arrive.
  virtual void settle() = 0;
  virtual void run_for(Duration duration) = 0;
  virtual MonotonicTime now() = 0;
};

struct BusKind {
  std::string name;
  std::function<std::unique_ptr<BusWorld>()> make;
};

inline void PrintTo(const BusKind& kind, std::ostream* out) {
  *out << kind.name;
}

// A subscriber that notes what it gets and answers with the verdicts it was given, then with ack.
// `hold` makes it wait with its answers until `answer_all`.
struct Listener {
  std::deque<Verdict> verdicts;
  bool hold = false;
  std::vector<Delivery> got;
  std::vector<Completer<Result<void>>> waiting;

  Handler handler() {
    return [this](Delivery delivery) -> Task<Verdict> {
      got.push_back(std::move(delivery));
      if (hold) (void)co_await waiting.emplace_back().future();
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

class BusContract : public testing::TestWithParam<BusKind> {
 protected:
  using Strings = std::vector<std::string>;
  using Told = std::shared_ptr<std::optional<Result<Published>>>;

  BusContract() : world(GetParam().make()) {}

  Told publish(std::string_view subject, std::string payload, std::string id = {}) {
    auto told = std::make_shared<std::optional<Result<Published>>>();
    publishers.spawn(
        note(world->bus().publish(std::string(subject), std::move(payload), id), told));
    return told;
  }
  Result<Published> outcome(const Told& told) {
    EXPECT_TRUE(world->run_until([&] { return told->has_value(); })) << "the publisher still waits";
    return told->value_or(fail(ErrorCode::kUnknown, "no answer"));
  }
  Result<Published> publish_now(std::string_view subject, std::string payload,
                                std::string id = {}) {
    return outcome(publish(subject, std::move(payload), std::move(id)));
  }
  std::unique_ptr<Subscription> subscribe(std::string_view subject, std::string_view queue,
                                          Listener& listener, SubscribeOptions options = {}) {
    options.queue = queue;
    auto made =
        world->bus().subscribe(std::string(subject), std::move(options), listener.handler());
    EXPECT_TRUE(made) << made.error().describe();
    world->settle();
    return *std::move(made);
  }
  std::unique_ptr<Subscription> consume(std::string_view subject, Listener& listener,
                                        SubscribeOptions options = {},
                                        std::string_view queue = kSchedulerQueue) {
    world->prepare(std::string(subject), std::string(queue));
    return subscribe(subject, queue, listener, std::move(options));
  }
  bool got(const Listener& listener, size_t count) {
    return world->run_until([&] { return listener.got.size() >= count; });
  }

  std::unique_ptr<BusWorld> world;
  Nursery publishers;

 private:
  static Task<void> note(Future<Result<Published>> answer, Told told) { *told = co_await answer; }
};

}  // namespace fairlead::bus
