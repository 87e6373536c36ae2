// What is on its way to a client.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/limits.h"

namespace fairlead::edge {

// Bytes on their way to one client, seen by both threads: what it costs to be slow.
struct Backlog {
  using Total = std::shared_ptr<std::atomic<size_t>>;

  explicit Backlog(Total all) : of_all(std::move(all)) {}
  ~Backlog() { *of_all -= bytes(); }

  void set_unsent(size_t bytes) {
    *of_all += bytes;
    *of_all -= unsent.exchange(bytes);
  }
  void add_transit(size_t bytes) {
    in_transit += bytes;
    *of_all += bytes;
  }
  void end_transit(size_t bytes) {
    in_transit -= bytes;
    *of_all -= bytes;
  }
  size_t bytes() const { return in_transit + unsent; }
  bool too_slow() const {
    return bytes() > limits::kUnsentBytesMax ||
           (*of_all > limits::kUnsentBytesOfAllMax && bytes() > limits::kUnsentBytesWhenFull);
  }

  std::atomic<size_t> in_transit = 0;  // from the loop's thread to the session
  std::atomic<size_t> unsent = 0;      // at the session
  const Total of_all;                  // of the listener
};

}  // namespace fairlead::edge
