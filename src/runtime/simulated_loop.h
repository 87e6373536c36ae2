// A loop in virtual time: nothing happens between two timers, so time jumps from one to the next.
// Everything runs on one thread, the one that made the loop, in one order that depends on nothing
// but what was posted there.
//
// Other threads may post; when that arrives depends on them. Whoever waits for them waits with
// wait_posted() before time moves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/timer_queue.h"

namespace fairlead {

class SimulatedLoop final : public Loop {
 public:
  void post(Work work) override;
  MonotonicTime now() const override { return now_.load(std::memory_order_relaxed); }
  TimerId call_at(MonotonicTime at, Work work) override;
  void cancel(TimerId timer) override;

  // Runs `work` before anything that was posted: for a simulated crash, which leaves no time.
  void post_urgent(Work work);

  // Runs what is posted, and timers, until `until`; then now() is `until`.
  void run_until(MonotonicTime until);
  void run_for(Duration duration) { run_until(now() + duration); }
  // Runs what is posted without moving time.
  void run_ready();
  // When the next timer fires.
  std::optional<MonotonicTime> next_timer() const { return timers_.next(); }
  // Waits until another thread has posted something that has not run yet.
  void wait_posted();
  // Pieces of work run so far: grows with every step of a simulation.
  uint64_t steps() const { return steps_; }

 private:
  bool run_one();
  void take_inbox();

  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<MonotonicTime> now_{};
  std::deque<Work> posted_;
  TimerQueue timers_;
  uint64_t steps_ = 0;

  // What other threads posted.
  std::mutex mutex_;
  std::condition_variable inbox_filled_;
  std::vector<Work> inbox_;
  std::atomic<bool> has_inbox_ = false;
};

}  // namespace fairlead
