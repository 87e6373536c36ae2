// For tests: a bus that goes away and comes back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus/bus.h"
#include "routing/placement.h"
#include "runtime/loop.h"

namespace fairlead::scheduler {

class WanderingBus final : public bus::Bus {
 public:
  WanderingBus(bus::Bus& bus, Loop& loop) : bus_(bus), loop_(loop), since_(loop.now()) {}

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
  std::optional<MonotonicTime> listening_since() const override { return since_; }

  bool goes_at_dispatch = false;
  std::vector<std::string> dispatches;

 private:
  bus::Bus& bus_;
  Loop& loop_;
  std::optional<MonotonicTime> since_;
};

}  // namespace fairlead::scheduler
