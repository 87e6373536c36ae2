// The real servers of stories in cluster mode: one of each for all stories of the program.
#pragma once

#include <memory>
#include <string>

#include "tests/behaviour/server_clock.h"
#include "tests/cluster/redis_server_process.h"

namespace fairlead::behaviour {

class ClusterServers {
 public:
  // Started when they are first asked for; gone with the program.
  static ClusterServers& shared();

  // As if they were new.
  void clear();
  // What their clocks show from now on.
  void set_time(WallTime now) { clock_.set(now); }

  cluster::RedisAnswer ask_redis(const cluster::RedisServerProcess::Words& words) {
    return redis_->ask(words);
  }
  std::string redis_url() const { return "unix://" + redis_->socket_path(); }

 private:
  ClusterServers();

  ServerClock clock_;
  std::unique_ptr<cluster::RedisServerProcess> redis_;
};

}  // namespace fairlead::behaviour
