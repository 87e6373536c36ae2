// Where events come from: packets of the bus, and what the scheduler commits. Nothing is listened
// to until somebody reads a stream, and for a while after the last one left, so that one who comes
// back misses nothing.
//
// On the loop; events leave in batches, once per turn.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "edge/http/api/backend.h"
#include "runtime/nursery.h"

namespace fairlead::http {

struct TappedEvent {
  bool is_packet = false;
  std::string bytes;   // of a packet
  job::Record record;  // of a commit
  TenantId tenant;     // of a packet's job, where the store knows it
};

class EventTap {
 public:
  using Sink = std::function<void(std::vector<TappedEvent>)>;

  EventTap(Backend& backend, Sink sink) : backend_(backend), sink_(std::move(sink)) {}
  ~EventTap();
  EventTap(const EventTap&) = delete;
  EventTap& operator=(const EventTap&) = delete;

  // Looks once a second whether there are readers. Runs until it is dropped or cancelled.
  Task<void> keep_watching();

  bool open() const { return !subscriptions_.empty(); }
  void set_open(bool open);

 private:
  Task<bus::Verdict> take(bus::Delivery delivery);
  void push(TappedEvent event);

  Backend& backend_;
  Sink sink_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  std::vector<TappedEvent> batch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::http
