// What the handlers of the API act on. All of it lives on the loop and outlives every call.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "bus/bus.h"
#include "edge/http/api/pool_book.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/store.h"

namespace fairlead::http {

struct Build {
  std::string version = "dev";
  std::string commit = "unknown";
  std::string date = "unknown";
};

struct Backend {
  Loop& loop;
  const Clock& clock;
  Random& random;
  store::Store& store;
  bus::Bus& bus;
  Log& log;
  scheduler::Scheduler& scheduler;
  PoolBook& pools;
  Build build;
  MonotonicTime started;
  // Readers of event streams now.
  std::function<size_t()> stream_readers = [] { return size_t{0}; };
  // Told before a stream is opened: events are wanted from now on.
  std::function<void()> stream_opening = [] {};
};

}  // namespace fairlead::http
