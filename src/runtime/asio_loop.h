// The production loop, on Boost.Asio. Work from other threads is gathered in an inbox that wakes
// the loop once, however much is put into it: a wake-up costs a thousand times more than a post.
#pragma once

#include <memory>

#include "runtime/loop.h"

namespace fairlead {

class AsioLoop final : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;

  void post(Work work) override;
  MonotonicTime now() const override;
  TimerId call_at(MonotonicTime at, Work work) override;
  void cancel(TimerId timer) override;

  // Runs on the calling thread until stop(); may be called again after that.
  void run();
  // Any thread. Work already posted is run first.
  void stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace fairlead
