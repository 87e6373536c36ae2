// The settings of `fairlead serve` as its parts want them.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/environment.h"
#include "bus/nats/settings.h"
#include "gate/kernel/kernel_gate.h"
#include "scheduler/timeouts_file.h"
#include "store/redis/redis_options.h"

namespace fairlead::app {

struct ServeConfig {
  Config common;
  bool gateway = false;
  bus::nats::Settings nats;
  store::redis::RedisOptions redis;
  std::optional<gate::KernelOptions> kernel;  // none: every job is allowed
  bool production = false;
  std::optional<scheduler::TimeoutsFile> timeouts_file;
  // What was said here by name, and holds whatever the shared configuration says.
  std::optional<Duration> dispatch_timeout;
  std::optional<Duration> running_timeout;
  bool fail_mode_given = false;
  // How long the context of a job is kept, and how often the shared configuration is read.
  Duration context_ttl = limits::kEndedJobTtl;
  Duration reload_every = std::chrono::seconds(30);
};

// The variables have what the settings have no name for: how to reach NATS and Redis safely, under
// the names of the Go services. Those that ask for a gate which is not here are refused where it
// would have to be shut, and so is production without a safety kernel.
std::expected<ServeConfig, Wrong> serve_config_of(const Settings& settings,
                                                  const Variables& variables);

}  // namespace fairlead::app
