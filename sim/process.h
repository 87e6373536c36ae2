// A simulated process: the loop and the clocks that one replica sees. It can be paused, so that
// nothing of it runs while the world goes on, and it can be killed, after which nothing of it runs
// ever again.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/simulated_loop.h"

namespace fairlead::sim {

class Process final : public Loop, public Clock {
 public:
  Process(SimulatedLoop& world, std::string name, Duration clock_offset)
      : world_(world), name_(std::move(name)), offset_(clock_offset) {}
  ~Process() override;

  // Loop, as the replica sees it.
  void post(Work work) override;
  MonotonicTime now() const override { return world_.now(); }
  TimerId call_at(MonotonicTime at, Work work) override;
  void cancel(TimerId timer) override;

  // Clock: wall time may be off and may step.
  WallTime wall() const override;
  MonotonicTime monotonic() const override { return world_.now(); }
  void step_clock(Duration by) { offset_ += by; }

  void pause() { paused_ = true; }
  void resume();
  bool paused() const { return paused_; }
  const std::string& name() const { return name_; }

  // Runs `work` for this process: now, when it wakes up, or never if it is gone by then.
  static void run(const std::weak_ptr<Process>& process, Work work);

 private:
  void fire(TimerId id);

  SimulatedLoop& world_;
  std::string name_;
  Duration offset_;
  bool paused_ = false;
  std::map<TimerId, std::pair<TimerId, Work>> timers_;  // ours to the world's
  uint64_t armed_ = 0;
  std::deque<Work> held_back_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The time at which every simulation begins.
inline constexpr WallTime kWorldBegins{std::chrono::hours(24 * 365 * 50)};

}  // namespace fairlead::sim
