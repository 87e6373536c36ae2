// A listener: one thread that accepts connections and moves their bytes to and from a protocol.
//
// What a protocol does not want to do on this thread it hands over to its loop, and comes back with
// post(). Callbacks of connections, ticks and posted work never run at the same time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "edge/net/protocol.h"
#include "edge/net/tls.h"
#include "runtime/clock.h"

namespace fairlead::edge {

struct ServerOptions {
  std::string name;  // of the thread
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any that is free
  size_t connections_max = limits::kConnectionsMax;
  std::string full_text;  // said to a connection too many
  std::shared_ptr<const TlsContext> tls{};
  bool tls_first = true;  // false: the protocol says when (Wire::start_tls)
  Duration tick_every = limits::kEdgeTickEvery;
};

class Server {
 public:
  using Work = std::move_only_function<void()>;
  // Makes the protocol of a new connection. The wire outlives it.
  using Accept = std::function<std::unique_ptr<Protocol>(Wire& wire, const Peer& peer)>;

  // The clock must outlive the server.
  Server(ServerOptions options, const Clock& clock, Accept accept);
  // As cut().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens and starts the thread. An error names the address.
  Result<void> start();
  // What it listens on. REQUIRES: started.
  uint16_t port() const;
  // Any thread: new connections are shown this certificate from now on. REQUIRES: it had one.
  void set_tls(std::shared_ptr<const TlsContext> tls);
  // Any thread. Work posted after stop() is destroyed without having run.
  void post(Work work);
  // Any thread: no more connections, and nothing more is received on those there are. `then` runs
  // on the server's thread, behind what protocols have posted because of what they received before.
  void shut_doors(Work then);
  // Any thread but its own: every connection takes what was given to it, at most for
  // limits::kStopLingerWait, and ends; then the thread does.
  void stop();
  // Any thread but its own: connections are cut off and the thread ends, if it has not.
  void cut();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace fairlead::edge
