// What other threads hand over to the loop: it is woken once, however much they put in.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "bus/nats/link.h"
#include "runtime/loop.h"

namespace fairlead::bus::nats {

struct Connected {
  std::string server_url;
};
struct Lost {
  std::string why;
};
struct Complaint {
  std::string what;
};
struct Ended {
  uint64_t listener = 0;
};
using Event = std::variant<Arrival, Connected, Lost, Complaint, Ended>;

class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  Inbox(Loop& loop, std::function<void(Event)> take) : loop_(&loop), take_(std::move(take)) {}

  // Any thread.
  void put(Event event);
  // Any thread. A message that may be dropped is, when too much waits.
  void put_arrival(Arrival arrival, Link::Care care);
  // Loop thread: nothing is taken any more, and the loop is not called again.
  void close();
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void add(Event event);  // REQUIRES: locked
  void drain();

  std::mutex mutex_;
  Loop* loop_;  // nullptr once closed
  std::vector<Event> waiting_;
  size_t waiting_bytes_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
  // The loop thread's.
  std::function<void(Event)> take_;
  std::vector<Event> batch_;
  bool closed_ = false;
};

}  // namespace fairlead::bus::nats
