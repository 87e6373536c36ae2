// For tests: a bus that passes everything on; what is made of it does one thing otherwise.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bus/bus.h"

namespace fairlead::bus {

class ForwardingBus : public Bus {
 public:
  explicit ForwardingBus(Bus& bus) : bus_(bus) {}

  Future<Result<Published>> publish(std::string subject, std::string payload,
                                    std::string id) override {
    return bus_.publish(std::move(subject), std::move(payload), std::move(id));
  }
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override {
    return bus_.stored(std::move(subject), std::move(id));
  }
  Result<std::unique_ptr<Subscription>> subscribe(std::string subject, SubscribeOptions options,
                                                  Handler handler) override {
    return bus_.subscribe(std::move(subject), std::move(options), std::move(handler));
  }
  std::optional<MonotonicTime> listening_since() const override { return bus_.listening_since(); }

 private:
  Bus& bus_;
};

}  // namespace fairlead::bus
