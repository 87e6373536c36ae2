// A protocol on one connection, and what its connection does for it. Both live on the thread of
// their server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fairlead::edge {

// A connection as its protocol sees it.
class Wire {
 public:
  // Puts bytes behind those already given; they go out together when the turn is over.
  virtual void send(std::string_view bytes) = 0;
  // Bytes given that the system has not taken yet.
  virtual size_t unsent() const = 0;
  // What was given goes out first, within limits::kLingerWait; nothing more is received.
  virtual void close() = 0;
  // From now on bytes are encrypted; what was given before goes out as it is.
  // REQUIRES: the server has TLS and the connection does not use it yet.
  virtual void start_tls() = 0;
  // While paused nothing is received.
  virtual void pause() = 0;
  virtual void resume() = 0;

 protected:
  ~Wire() = default;
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  // The connection stands, its TLS handshake included where the server has that come first.
  virtual void opened(MonotonicTime now) = 0;
  // Bytes, cut anywhere. They are gone after the call.
  virtual void received(std::string_view bytes) = 0;
  // The system has taken so many bytes.
  virtual void sent(size_t) {}
  // Comes again and again, about every ServerOptions::tick_every.
  virtual void tick(MonotonicTime now) = 0;
  // The connection has gone; the last call before destruction.
  virtual void closed() = 0;
};

// Who connects.
struct Peer {
  uint64_t id = 0;  // names the connection in its server; never used again
  std::string address;
  uint16_t port = 0;
};

}  // namespace fairlead::edge
