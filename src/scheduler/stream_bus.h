// For tests: hands a scheduler messages as a stream would, with names, and keeps what it publishes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bus/forwarding_bus.h"

namespace fairlead::scheduler {

class StreamBus final : public bus::ForwardingBus {
 public:
  using ForwardingBus::ForwardingBus;

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    published.emplace_back(subject, payload);
    return ForwardingBus::publish(std::move(subject), std::move(payload), std::move(id));
  }
  Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                       bus::SubscribeOptions options,
                                                       bus::Handler handler) override {
    if (!options.queue.empty()) handlers[subject] = handler;
    return ForwardingBus::subscribe(std::move(subject), std::move(options), std::move(handler));
  }

  std::map<std::string, bus::Handler> handlers;
  std::vector<std::pair<std::string, std::string>> published;  // subject and payload
};

}  // namespace fairlead::scheduler
