// The payload listener: Redis clients on one side, the store's blobs on the other.
#pragma once

#include <memory>

#include "base/limits.h"
#include "edge/net/credentials.h"
#include "edge/net/tls.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "store/store.h"

namespace fairlead::edge {

struct RespOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 6379;  // 0: any that is free
  Credentials credentials{};
  std::shared_ptr<const TlsContext> tls{};
  Duration kept = limits::kEndedJobTtl;  // what comes without a time to live
  size_t connections_max = limits::kConnectionsMax;
  Duration tick_every = limits::kEdgeTickEvery;
  Duration authentication_wait = limits::kAuthenticationWait;
};

// Made, used and destroyed on the loop's thread.
class RespListener {
 public:
  struct Plugs {
    Loop& loop;
    const Clock& clock;
    store::Store& store;
  };

  // All plugs outlive the listener.
  RespListener(const Plugs& plugs, RespOptions options);
  // Cuts off who is still connected.
  ~RespListener();

  // Listens. An error says what is wrong with the address, or that it is open to strangers.
  Result<void> start();
  // REQUIRES: started.
  uint16_t port() const;

  // Shown to clients that connect from now on. REQUIRES: started with one.
  void set_tls(std::shared_ptr<const TlsContext> tls);

  // Takes nothing more from clients, waits until what they have asked is done or `patience` is
  // over, and closes when they have been answered.
  Task<void> stop(Duration patience);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead::edge
