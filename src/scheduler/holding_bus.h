// For tests: dispatches wait until the test says what becomes of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bus/forwarding_bus.h"
#include "routing/placement.h"

namespace fairlead::scheduler {

class HoldingBus final : public bus::ForwardingBus {
 public:
  using ForwardingBus::ForwardingBus;

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    bool dispatch = !routing::worker_of_subject(subject).empty();
    if (dispatch) return held.emplace_back().future();
    return ForwardingBus::publish(std::move(subject), std::move(payload), std::move(id));
  }

  std::vector<Completer<Result<bus::Published>>> held;
};

}  // namespace fairlead::scheduler
