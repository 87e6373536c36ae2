#include "sim/process.h"

namespace fairlead::sim {

Process::~Process() {
  *alive_ = false;
  for (auto& [ours, theirs] : timers_) world_.cancel(theirs.first);
}

void Process::post(Work work) {
  world_.post([this, alive = alive_, work = std::move(work)]() mutable {
    if (!*alive) return;
    if (paused_) {
      held_back_.push_back(std::move(work));
    } else {
      work();
    }
  });
}

TimerId Process::call_at(MonotonicTime at, Work work) {
  TimerId ours{at, ++armed_};
  TimerId theirs = world_.call_at(at, [this, ours] { fire(ours); });
  timers_.emplace(ours, std::pair(theirs, std::move(work)));
  return ours;
}

void Process::fire(TimerId id) {
  if (paused_) {
    // Stays armed, so that it can still be cancelled, and fires when the process wakes up.
    held_back_.push_back([this, id] {
      if (timers_.contains(id)) fire(id);
    });
    return;
  }
  auto found = timers_.find(id);
  Work work = std::move(found->second.second);
  timers_.erase(found);
  work();
}

void Process::cancel(TimerId timer) {
  auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  world_.cancel(found->second.first);
  timers_.erase(found);
}

WallTime Process::wall() const {
  return kWorldBegins + world_.now().time_since_epoch() + offset_;
}

void Process::resume() {
  paused_ = false;
  while (!held_back_.empty() && !paused_) {
    Work work = std::move(held_back_.front());
    held_back_.pop_front();
    post(std::move(work));
  }
}

void Process::run(const std::weak_ptr<Process>& process, Work work) {
  std::shared_ptr<Process> there = process.lock();
  if (!there) return;
  if (there->paused_) {
    there->held_back_.push_back(std::move(work));
  } else {
    work();
  }
}

}  // namespace fairlead::sim
