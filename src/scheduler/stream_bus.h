// For tests: hands a scheduler messages as a stream would, with names, and keeps what it publishes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bus/bus.h"

namespace fairlead::scheduler {

class StreamBus final : public bus::Bus {
 public:
  explicit StreamBus(bus::Bus& bus) : bus_(bus) {}

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    published.emplace_back(subject, payload);
    return bus_.publish(std::move(subject), std::move(payload), std::move(id));
  }
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override {
    return bus_.stored(std::move(subject), std::move(id));
  }
  Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                       bus::SubscribeOptions options,
                                                       bus::Handler handler) override {
    if (!options.queue.empty()) handlers[subject] = handler;
    return bus_.subscribe(std::move(subject), std::move(options), std::move(handler));
  }
  std::optional<MonotonicTime> listening_since() const override { return bus_.listening_since(); }

  std::map<std::string, bus::Handler> handlers;
  std::vector<std::pair<std::string, std::string>> published;  // subject and payload

 private:
  bus::Bus& bus_;
};

}  // namespace fairlead::scheduler
