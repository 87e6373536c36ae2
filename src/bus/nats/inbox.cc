#include "bus/nats/inbox.h"

#include "base/limits.h"

namespace fairlead::bus::nats {

void Inbox::put(Event event) {
  std::lock_guard lock(mutex_);
  add(std::move(event));
}

void Inbox::put_arrival(Arrival arrival, Link::Care care) {
  std::lock_guard lock(mutex_);
  const bool full = waiting_.size() >= limits::kSubscriptionQueueMax ||
                    waiting_bytes_ + arrival.payload.size() > limits::kGroupBytesMax;
  if (full && care == Link::Care::kMayDrop) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  waiting_bytes_ += arrival.payload.size();
  add(std::move(arrival));
}

void Inbox::add(Event event) {
  if (!loop_) return;
  waiting_.push_back(std::move(event));
  if (waiting_.size() > 1) return;
  loop_->post([self = weak_from_this()] {
    if (auto inbox = self.lock()) inbox->drain();
  });
}

void Inbox::drain() {
  {
    std::lock_guard lock(mutex_);
    batch_.swap(waiting_);
    waiting_bytes_ = 0;
  }
  // Whoever takes an event may close us.
  for (Event& event : batch_) {
    if (closed_) break;
    take_(std::move(event));
  }
  batch_.clear();
}

void Inbox::close() {
  closed_ = true;
  std::lock_guard lock(mutex_);
  loop_ = nullptr;
  waiting_.clear();
}

}  // namespace fairlead::bus::nats
