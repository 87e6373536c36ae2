#include "app/redis_watch.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace fairlead::app {

namespace {

constexpr Duration kCompareEvery = std::chrono::seconds(10);

}  // namespace

std::string durability_sentence(const store::redis::ServerSettings& settings) {
  std::string crash;
  if (!settings.append_only) {
    crash =
        "Redis keeps no append-only file: when it or its machine ends, what was acknowledged "
        "since its last snapshot is lost";
  } else if (settings.append_sync == "always") {
    crash = "Redis writes to disk before it acknowledges";
  } else if (settings.append_sync == "everysec") {
    crash = "Redis writes to disk every second: a crash of its machine may lose the last one";
  } else {
    crash =
        "Redis leaves it to the system when to write to disk: a crash of its machine may lose "
        "what was acknowledged last";
  }
  if (settings.replicas_min > 0) {
    return fmt::format("{}; it needs {} replica{} to take writes, so a failover loses little",
                       crash, settings.replicas_min, settings.replicas_min == 1 ? "" : "s");
  }
  return crash + "; a failover may lose what its replicas had not received";
}

Task<Result<void>> RedisWatch::check_settings(bool production) {
  auto settings = co_await store_.server_settings();
  if (!settings) {
    log_.warning(
        "Redis does not tell its settings: it must not evict (maxmemory-policy noeviction)",
        {{"error", settings.error().message}});
    co_return Result<void>{};
  }
  log_.info(durability_sentence(*settings), {});
  if (settings->eviction == "noeviction") co_return Result<void>{};
  const std::string wrong = fmt::format(
      "Redis may throw away live jobs when its memory is full: its maxmemory-policy is {}, and "
      "must "
      "be noeviction",
      settings->eviction);
  if (production) co_return fail(ErrorCode::kInvalid, wrong);
  log_.warning(wrong, {});
  co_return Result<void>{};
}

Task<void> RedisWatch::keep_comparing() {
  do {
    co_await compare();
  } while (co_await loop_.delay(kCompareEvery));
}

Task<void> RedisWatch::compare() {
  const WallTime asked = clock_.wall(), asked_in_use = store_.clock().wall();
  auto time = co_await store_.server_time();
  if (!time) co_return;
  // It told its time somewhere between.
  const Duration machine = asked + (clock_.wall() - asked) / 2 - *time;
  const Duration in_use = asked_in_use + (store_.clock().wall() - asked_in_use) / 2 - *time;
  told_(machine, in_use);
  if (std::chrono::abs(in_use) > limits::kClockOffsetMax) {
    log_.warning("the time in use is not that of Redis: deadlines and due times are left to others",
                 {{"ahead_ms", std::to_string(in_use / std::chrono::milliseconds(1))}});
  }
  if (std::chrono::abs(machine) > limits::kClockOffsetTold) {
    log_.warning("the clock of this machine and that of Redis differ",
                 {{"ahead_ms", std::to_string(machine / std::chrono::milliseconds(1))}});
  }
}

}  // namespace fairlead::app
