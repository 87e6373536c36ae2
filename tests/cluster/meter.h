// What jobs cost a cluster: commands of Redis, calls to it, processor time of each process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "tests/cluster/nats_server_process.h"
#include "tests/cluster/redis_server_process.h"
#include "tests/load/wire.h"

namespace fairlead::cluster {

// Commands that Redis has run, those inside scripts too; without what was asked to find this out.
uint64_t commands_run(RedisServerProcess& redis);
// The same of one command, by its name in lower case.
uint64_t calls_of(RedisServerProcess& redis, std::string_view command);

// Memory that Redis uses for what it holds.
uint64_t memory_used(RedisServerProcess& redis);

// What JetStream keeps on disk.
uint64_t stream_bytes(const NatsServerProcess& nats);

// Processor time that a process has used, of all its threads.
double cpu_seconds(pid_t process);

// Counts what clients send to Redis while it lives, each a round trip for who sent it: commands
// outside of scripts. Redis is much slower meanwhile.
class RedisTap {
 public:
  RedisTap(load::asio::io_context& context, uint16_t redis);
  ~RedisTap() { wire_->close(); }
  RedisTap(const RedisTap&) = delete;
  RedisTap& operator=(const RedisTap&) = delete;

  uint64_t calls() const { return calls_; }
  // As Redis shows it.
  const std::string& last() const { return last_; }

 private:
  size_t take(std::string_view bytes);

  std::shared_ptr<load::Wire> wire_;
  uint64_t calls_ = 0;
  std::string last_;
};

}  // namespace fairlead::cluster
