// Where events come from: packets of the bus, and what the scheduler commits. Nothing is listened
// to until somebody reads a stream, and for a while after the last one left, so that one who comes
// back misses nothing.
//
// On the loop; events leave in batches, once per turn, and as they are: they are put into words by
// who is asked for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "edge/http/api/backend.h"
#include "runtime/nursery.h"

namespace fairlead::http {

struct TappedEvent {
  enum class Kind {
    kCommit,  // record
    kPacket,  // bytes
    kGap,     // events before it were lost
  };
  Kind kind = Kind::kCommit;
  store::Snapshot record;
  std::string bytes;
  std::string job;  // of a packet; "" when it is about no job
  TenantId tenant;  // of a packet's job, where the store knows it
  // Worth nothing later, as a heartbeat: it is not remembered for long.
  bool passing = false;
  uint64_t tapped = 0;  // how many the tap had told of by then, with this one; of a gap, the next
};

// What it takes to keep it, about.
size_t bytes_of(const TappedEvent& event);

class EventTap {
 public:
  struct Outlet {
    std::function<void(std::vector<TappedEvent>)> tell;
    // Nothing is listened to any more: what happens from now on will be missed.
    std::function<void()> closed;
  };

  EventTap(Backend& backend, Outlet outlet) : backend_(backend), outlet_(std::move(outlet)) {}
  ~EventTap();
  EventTap(const EventTap&) = delete;
  EventTap& operator=(const EventTap&) = delete;

  // Looks once a second whether there are readers. Runs until it is dropped or cancelled.
  Task<void> keep_watching();

  // Somebody is about to read, though not counted yet. How many events there have been: what is
  // committed from now on comes after them.
  uint64_t expect_reader();
  bool open() const { return !subscriptions_.empty(); }

 private:
  void set_open(bool open);
  Task<bus::Verdict> take(bus::Delivery delivery);
  void push(TappedEvent event);

  Backend& backend_;
  Outlet outlet_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  std::vector<TappedEvent> batch_;
  uint64_t tapped_ = 0;
  // When somebody was last known to read.
  std::optional<MonotonicTime> last_read_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::http
