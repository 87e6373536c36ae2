// Bytes over one connected socket, plain or under TLS, never blocking. The socket is somebody
// else's and outlives this.
#pragma once

#include <span>
#include <string_view>

#include "edge/net/tls.h"

struct ssl_st;

namespace fairlead::edge {

class Transport {
 public:
  enum class Status {
    kDone,
    kWantRead,   // try again when the socket can be read
    kWantWrite,  // try again when it can be written
    kClosed,     // the other side has gone, or broke the rules of TLS
  };
  struct Step {
    Status status = Status::kClosed;
    size_t bytes = 0;  // moved; more than 0 when kDone
  };

  // REQUIRES: the socket is in non-blocking mode.
  explicit Transport(int socket) : socket_(socket) {}
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // What follows is TLS, as its server. False: no memory.
  bool start_tls(const TlsContext& context);
  bool secure() const { return tls_ != nullptr; }
  Status handshake();

  Step read(std::span<char> buffer);
  Step write(std::string_view bytes);
  // Tells the other side that nothing more comes, as far as that goes without waiting.
  void end();

 private:
  Step tls_step(int result);

  int socket_;
  ssl_st* tls_ = nullptr;
};

}  // namespace fairlead::edge
