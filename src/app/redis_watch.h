// What is looked at in Redis itself: whether it may throw away what it was given, what its
// acknowledgements are worth, and how far its clock is from ours.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/task.h"
#include "store/redis/redis_store.h"

namespace fairlead::app {

// In one sentence, when something that was acknowledged can be lost.
std::string durability_sentence(const store::redis::ServerSettings& settings);

class RedisWatch {
 public:
  // How far the machine's clock is ahead of the server's, and how far the time that the store goes
  // by, which is learnt from the server.
  using Told = std::function<void(Duration machine, Duration in_use)>;

  // All must outlive it. `clock` is the machine's.
  RedisWatch(Loop& loop, const Clock& clock, store::redis::RedisStore& store, Log& log, Told told)
      : loop_(loop), clock_(clock), store_(store), log_(log), told_(std::move(told)) {}

  // Says what Redis is set to. An error, in production, when it may evict what it was given; a
  // warning elsewhere. One that does not tell is believed to be set right.
  Task<Result<void>> check_settings(bool production);
  // Compares the clocks for as long as it lives.
  Task<void> keep_comparing();

 private:
  Task<void> compare();

  Loop& loop_;
  const Clock& clock_;
  store::redis::RedisStore& store_;
  Log& log_;
  Told told_;
};

}  // namespace fairlead::app
