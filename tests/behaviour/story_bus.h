// The bus as the scheduler of a story sees it: the local one, with faults on order, and a list of
// everything that was published.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bus/bus.h"
#include "runtime/nursery.h"

namespace fairlead::behaviour {

class StoryBus final : public bus::Bus {
 public:
  // What the scheduler gave to the bus.
  struct Sent {
    std::string subject;
    std::string job;
    uint64_t epoch = 0;      // of a dispatch
    std::string error_code;  // of a dead letter
    std::string error_enum;  // its structured code, without the prefix
    bool taken = false;      // the bus has it; false: refused or lost
  };

  enum class Fault {
    kRefuse,       // the bus says no
    kTooLarge,     // the bus says that it will never take such a message
    kLose,         // the message is gone, and so is the answer
    kLoseAnswer,   // the message arrives, the answer is lost
    kHold,         // nothing happens until let_go()
    kCrashBefore,  // the scheduler's process ends before the bus has it
    kCrashAfter,   // after the receiver has it, before the answer
  };
  enum class Of { kDispatch, kDeadLetter, kCancel };
  enum class Crash { kNow, kAfterDelivery };

  // The bus that messages go to; nullptr while the process is down.
  void attach(bus::Bus* bus);
  // `crash` is to end the process, but not inside the call.
  void on_crash(std::function<void(Crash)> crash) { crash_ = std::move(crash); }

  // Strikes the next `count` messages of the kind that no earlier order strikes.
  void order(Fault fault, Of of, size_t count);
  // Gives what is held to the bus. False when nothing is.
  bool let_go();
  size_t orders_left() const { return orders_.size(); }
  const std::vector<Sent>& sent() const { return sent_; }

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override;
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override;
  Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                       bus::SubscribeOptions options,
                                                       bus::Handler handler) override;
  std::optional<MonotonicTime> listening_since() const override {
    return bus_ ? bus_->listening_since() : std::nullopt;
  }

 private:
  struct Order {
    Fault fault;
    Of of;
  };
  struct Held {
    size_t sent;  // its place in sent_
    std::string subject;
    std::string payload;
    std::string id;
    Completer<Result<bus::Published>> answer;
  };

  std::optional<Fault> fault_for(std::string_view subject);
  Task<void> forward(Held held);

  bus::Bus* bus_ = nullptr;
  std::function<void(Crash)> crash_;
  std::deque<Order> orders_;
  std::deque<Held> held_;
  std::vector<Sent> sent_;
  Nursery tasks_;
};

}  // namespace fairlead::behaviour
