// What workers say of themselves, and what the store knows better.
//
// Other replicas end jobs that this one handed out. It hears of most endings by listening to all
// results and cancels; where a worker reports fewer jobs than are held for it, the store is asked
// which of those are really out: now and then, and always before ghosts make room for more.
#pragma once

#include "bus/bus.h"
#include "runtime/task.h"
#include "scheduler/replica.h"
#include "scheduler/waiters.h"

namespace fairlead::scheduler {

class Heartbeats {
 public:
  Heartbeats(Replica& replica, Waiters& waiters) : replica_(replica), waiters_(waiters) {}

  Task<bus::Verdict> handle(bus::Delivery delivery);
  // A component introduces itself: a worker says what it takes.
  Task<bus::Verdict> introduce(bus::Delivery delivery);
  // A worker is gone: what it still has is lost with it unless it comes back within the TTL.
  Task<bus::Verdict> leave(bus::Delivery delivery);
  // A result or a cancel that some replica takes: the worker has room again, as far as this one
  // knows.
  Task<bus::Verdict> overhear(bus::Delivery delivery);
  // Runs for as long as the replica lives, unless it is alone.
  Task<void> keep_confirming();

 private:
  Task<void> confirm_held(WorkerId worker);

  Replica& replica_;
  Waiters& waiters_;
};

}  // namespace fairlead::scheduler
