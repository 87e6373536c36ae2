#include "runtime/timer_queue.h"

namespace fairlead {

TimerId TimerQueue::add(MonotonicTime at, Loop::Work work) {
  TimerId id{at, ++armed_};
  timers_.emplace(id, std::move(work));
  return id;
}

std::optional<MonotonicTime> TimerQueue::next() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.at;
}

Loop::Work TimerQueue::take_due(MonotonicTime now) {
  if (timers_.empty() || timers_.begin()->first.at > now) return {};
  Loop::Work work = std::move(timers_.begin()->second);
  timers_.erase(timers_.begin());
  return work;
}

}  // namespace fairlead
