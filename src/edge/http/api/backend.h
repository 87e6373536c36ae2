// What the handlers of the API act on. All of it lives on the loop and outlives every call.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "base/build.h"
#include "base/limits.h"
#include "base/log.h"
#include "bus/bus.h"
#include "edge/http/api/pool_book.h"
#include "edge/http/api/rates.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/store.h"

namespace fairlead::http {

// The servers that a replica of a cluster needs; embedded there are none.
struct Servers {
  bool embedded = true;
  bool nats = true;  // whether they are connected now
  bool redis = true;
  // Why they do not do what they are asked for, though they are there; empty: they do.
  std::string nats_problem{};
  std::string redis_problem{};
  // Of the safety kernel, likewise; no value: none is asked.
  std::optional<std::string> safety_problem{};
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
  // Jobs are handed to the scheduler of this process, not published: they are in the store when
  // they are acknowledged, whatever the bus keeps.
  bool hands_over_jobs = false;
  // How long the context of a job is kept.
  Duration context_ttl = limits::kEndedJobTtl;
  std::function<Servers()> servers = [] { return Servers{}; };
  Rates rates{};
  // The last answer about the server to those who see every tenant, without and with what is for
  // admins.
  struct Cached {
    std::string body;
    MonotonicTime until{};
  };
  std::array<Cached, 2> status{};
  // The server has been told to stop: it is alive, and not ready for more.
  bool stopping = false;
  // Readers of event streams now.
  std::function<size_t()> stream_readers = [] { return size_t{0}; };
  // Told before a stream is opened: events are wanted from now on. How many there were before.
  std::function<uint64_t()> stream_opening = [] { return uint64_t{0}; };
};

}  // namespace fairlead::http
