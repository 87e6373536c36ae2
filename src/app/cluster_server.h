// One replica of a cluster: a scheduler on NATS and Redis, metrics, and the API where it is wanted.
//
// All of it lives on one loop, which run() turns on the calling thread.
#pragma once

#include <memory>

#include "app/config_watch.h"
#include "app/front.h"
#include "app/redis_watch.h"
#include "app/serve_config.h"
#include "base/log.h"
#include "bus/nats/nats_bus.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "scheduler/stored_config.h"
#include "store/redis/redis_store.h"

namespace fairlead::app {

class ClusterServer {
 public:
  // The log must outlive the server.
  ClusterServer(ServeConfig config, Log& log);
  ~ClusterServer();
  ClusterServer(const ClusterServer&) = delete;
  ClusterServer& operator=(const ClusterServer&) = delete;

  // Starts everything, says so on standard output, and serves until drain() has ended it. An error
  // is one sentence: why it could not start.
  Result<void> run();

  // Any thread, any time: takes no new work, finishes what is under way, and ends run(). The other
  // replicas go on with the rest.
  void drain();

 private:
  Result<void> open();
  Task<void> live();
  Task<Result<void>> start();
  Task<Result<void>> bind();
  void warn_of_replays();
  // By the clock that all replicas go by.
  WallTime now() const { return store_->clock().wall(); }
  // Takes over what dead replicas were given of this subject and did not answer.
  Task<void> keep_recovering(std::string subject);
  // Says who is there, for the Go services' tools.
  Task<void> keep_registered();
  // The same on the bus, over every new connection.
  Task<void> keep_greeting();
  void watch_servers();
  void announce();
  Task<void> stop();
  void take_apart();

  const ServeConfig config_;
  Log& log_;
  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  Front front_;
  std::unique_ptr<store::redis::RedisStore> store_;
  std::unique_ptr<bus::nats::NatsBus> bus_;
  std::unique_ptr<gate::Gate> gate_;
  const gate::KernelGate* kernel_ = nullptr;  // the gate, if it asks one
  std::unique_ptr<scheduler::StoredConfig> effective_config_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<http::PoolBook> book_;
  std::unique_ptr<ConfigWatch> config_watch_;
  std::unique_ptr<RedisWatch> redis_watch_;
  std::unique_ptr<http::Backend> backend_;

  bool started_ = false;
  bool drain_wanted_ = false;
  Result<void> outcome_;
  Nursery tasks_;
  Nursery recoveries_;
};

}  // namespace fairlead::app
