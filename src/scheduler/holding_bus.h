// For tests: dispatches wait until the test says what becomes of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus/bus.h"
#include "routing/placement.h"

namespace fairlead::scheduler {

class HoldingBus final : public bus::Bus {
 public:
  explicit HoldingBus(bus::Bus& bus) : bus_(bus) {}

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    bool dispatch = !routing::worker_of_subject(subject).empty();
    if (dispatch) return held.emplace_back().future();
    return bus_.publish(std::move(subject), std::move(payload), std::move(id));
  }
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override {
    return bus_.stored(std::move(subject), std::move(id));
  }
  Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                       bus::SubscribeOptions options,
                                                       bus::Handler handler) override {
    return bus_.subscribe(std::move(subject), std::move(options), std::move(handler));
  }
  std::optional<MonotonicTime> listening_since() const override { return bus_.listening_since(); }

  std::vector<Completer<Result<bus::Published>>> held;

 private:
  bus::Bus& bus_;
};

}  // namespace fairlead::scheduler
