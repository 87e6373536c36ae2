// The server in one process: store, bus, scheduler and the four listeners, put together and taken
// apart in order.
//
// All of it lives on one loop, which run() turns on the calling thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/demo.h"
#include "app/front.h"
#include "base/log.h"
#include "bus/local/local_bus.h"
#include "edge/http/server.h"
#include "edge/nats/nats_listener.h"
#include "edge/resp/resp_listener.h"
#include "gate/topic_gate.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::app {

class EmbeddedServer {
 public:
  // The log must outlive the server.
  EmbeddedServer(Config config, Log& log);
  ~EmbeddedServer();
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // Starts everything, says so on standard output, and serves until drain() has ended it. An error
  // is one sentence: why it could not start.
  Result<void> run();

  // Any thread, any time: takes no new work, finishes what is under way, and ends run(). What is
  // with workers stays with them; their results are awaited by the next start.
  void drain();

 private:
  Result<void> open();
  Task<void> live();
  Task<Result<void>> start();
  Result<void> listen();
  void announce();
  std::string workers_url() const;
  std::string payloads_url() const;
  void begin_watching();
  Task<void> stop();
  void take_apart();

  const Config config_;
  Log& log_;

  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  Front front_;
  gate::TopicGate gate_;
  std::unique_ptr<store::RocksStore> store_;
  std::unique_ptr<bus::LocalBus> bus_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<http::PoolBook> book_;
  std::unique_ptr<http::Backend> backend_;
  std::optional<edge::NatsListener> nats_;
  std::optional<edge::RespListener> resp_;
  std::optional<Demo> demo_;

  bool started_ = false;
  bool drain_wanted_ = false;
  Result<void> outcome_;
  Nursery tasks_;
};

}  // namespace fairlead::app
