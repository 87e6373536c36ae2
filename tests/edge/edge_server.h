// The embedded core with its listeners, for tests: what `fairlead up` will be, without its
// settings.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "bus/local/local_bus.h"
#include "edge/nats/nats_listener.h"
#include "edge/resp/resp_listener.h"
#include "gate/topic_gate.h"
#include "runtime/asio_loop.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/memory/memory_store.h"

namespace fairlead::edge {

struct EdgeServerOptions {
  Credentials credentials;
  TlsFiles tls;  // empty: none
  Duration ping_every = limits::kPingEvery;
  Duration tick_every = limits::kEdgeTickEvery;
  std::string address = "127.0.0.1";
  uint16_t nats_port = 0;
};

class EdgeServer {
 public:
  explicit EdgeServer(EdgeServerOptions options) : options_(std::move(options)) {}

  // Starts everything, says `nats PORT`, `resp PORT`, `ready` on standard output, serves until
  // standard input ends, then stops in order. Not 0: it could not start.
  int run();

 private:
  Task<void> start();
  Task<void> stop();
  Result<void> listen();

  EdgeServerOptions options_;
  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  NoLog log_;
  store::MemoryStore store_{clock_};
  gate::TopicGate gate_;
  bus::LocalBus bus_{loop_, clock_, store_};
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::optional<NatsListener> nats_;
  std::optional<RespListener> resp_;
  Nursery tasks_;
  int status_ = 1;
};

}  // namespace fairlead::edge
