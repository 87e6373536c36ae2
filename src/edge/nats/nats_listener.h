// The workers' listener: NATS clients on one side, the bus on the other.
//
// Clients get what core NATS gives them: publish and subscribe with wildcards and queue groups,
// headers, request and reply, no responders. A publish on a durable subject that carries a reply is
// answered like one to JetStream, after the message is safe; one that does not is safe all the
// same. There is no other JetStream: who asks for it hears that nobody answers.
//
// Remote queue groups overhear durable subjects; they do not consume them, so a client that calls
// its group like the scheduler's takes nothing away from it.
#pragma once

#include <memory>

#include "base/limits.h"
#include "base/log.h"
#include "bus/open_bus.h"
#include "edge/net/credentials.h"
#include "edge/net/tls.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/random.h"

namespace fairlead::edge {

struct NatsOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 4222;  // 0: any that is free
  Credentials credentials{};
  std::shared_ptr<const TlsContext> tls{};
  size_t connections_max = limits::kConnectionsMax;
  Duration ping_every = limits::kPingEvery;
  Duration tick_every = limits::kEdgeTickEvery;
  Duration authentication_wait = limits::kAuthenticationWait;
};

// Made, used and destroyed on the loop's thread.
class NatsListener {
 public:
  struct Plugs {
    Loop& loop;
    const Clock& clock;
    Random& random;
    bus::OpenBus& bus;
    Log& log;
  };

  // All plugs outlive the listener.
  NatsListener(const Plugs& plugs, NatsOptions options);
  // Cuts off who is still connected.
  ~NatsListener();

  // Listens. An error says what is wrong with the address, or that it is open to strangers.
  Result<void> start();
  // REQUIRES: started.
  uint16_t port() const;

  // Shown to clients that connect from now on. REQUIRES: started with one.
  void set_tls(std::shared_ptr<const TlsContext> tls);

  // Takes nothing more from clients, waits until what they have sent is done or `patience` is over,
  // and closes when they have been told.
  Task<void> stop(Duration patience);

  size_t subscriptions() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead::edge
