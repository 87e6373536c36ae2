#include "tests/behaviour/cluster_servers.h"

namespace fairlead::behaviour {

// What a crash of a server leaves is not a matter of stories: nothing is written to disk. A thread
// of Redis that waits for a time would wait for one that is long over.
ClusterServers::ClusterServers() {
  ServerClock::Lend lent(clock_);
  redis_ = std::make_unique<cluster::RedisServerProcess>(
      cluster::RedisServerProcess::Words{"--appendonly", "no", "--jemalloc-bg-thread", "no"});
}

ClusterServers& ClusterServers::shared() {
  static ClusterServers servers;
  return servers;
}

void ClusterServers::clear() {
  redis_->ask({"FLUSHALL"});
}

}  // namespace fairlead::behaviour
