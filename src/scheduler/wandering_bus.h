// For tests: a bus that goes away and comes back.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus/forwarding_bus.h"
#include "routing/placement.h"
#include "runtime/loop.h"

namespace fairlead::scheduler {

class WanderingBus final : public bus::ForwardingBus {
 public:
  WanderingBus(bus::Bus& bus, Loop& loop) : ForwardingBus(bus), loop_(loop), since_(loop.now()) {}

  void go() { since_.reset(); }
  void come_back() { since_ = loop_.now(); }

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override {
    if (!since_) return bus::Published::kRefused;
    if (!routing::worker_of_subject(subject).empty()) {
      dispatches.push_back(subject);
      if (goes_at_dispatch) go();
      return since_ ? bus::Published::kStored : bus::Published::kRefused;
    }
    return ForwardingBus::publish(std::move(subject), std::move(payload), std::move(id));
  }
  std::optional<MonotonicTime> listening_since() const override { return since_; }

  bool goes_at_dispatch = false;
  std::vector<std::string> dispatches;

 private:
  Loop& loop_;
  std::optional<MonotonicTime> since_;
};

}  // namespace fairlead::scheduler
