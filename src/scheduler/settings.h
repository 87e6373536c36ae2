// What an operator can set of a scheduler.
#pragma once

#include <map>
#include <string>

#include "base/ids.h"
#include "base/limits.h"

namespace fairlead::scheduler {

// How long a job may be on its way to a worker, and with it.
struct Timeouts {
  Duration dispatch = std::chrono::seconds(300);
  Duration running = std::chrono::seconds(900);
};

struct Settings {
  // Names this replica in leases and logs; a nonce of the process is added to it.
  std::string instance = "fairlead";
  // The only replica on its store: every result passes through it.
  bool alone = false;
  Timeouts timeouts;
  std::map<Topic, Timeouts> topic_timeouts;
  int stale_picks_max = limits::kStalePicksMax;
  bool safety_fail_open = false;
  // How long the store keeps a job that ended: a stream's submit of an unknown job that is older
  // may be one of those.
  Duration ended_job_ttl = limits::kEndedJobTtl;
  // How often the workers are written down for others; not when `alone`.
  Duration snapshot_every = std::chrono::seconds(5);

  const Timeouts& timeouts_of(const Topic& topic) const {
    auto found = topic_timeouts.find(topic);
    return found == topic_timeouts.end() ? timeouts : found->second;
  }
};

}  // namespace fairlead::scheduler
