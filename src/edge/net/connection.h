// One connection of a server: moves bytes between its socket and its protocol.
//
//   handshaking ──► open ──close()──► closing (output goes out) ──► lingering ──► gone
//
// It waits until the socket can be read and then reads into the server's buffer, so that an idle
// connection holds none. Lingering means that our side is shut and the rest of theirs is thrown
// away: closing with unread bytes would make the system drop our last words.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "edge/net/protocol.h"
#include "edge/net/transport.h"

namespace fairlead::edge {

class Connection;

// What connections of one server share.
class ConnectionHost {
 public:
  virtual std::span<char> read_buffer() = 0;
  virtual MonotonicTime now() const = 0;
  // Calls connection.flush() when the turn is over.
  virtual void flush_later(std::shared_ptr<Connection> connection) = 0;
  virtual void gone(uint64_t id) = 0;

 protected:
  ~ConnectionHost() = default;
};

class Connection final : public Wire, public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionHost& host, boost::asio::ip::tcp::socket socket, uint64_t id,
             std::shared_ptr<const TlsContext> tls);

  // REQUIRES: called once, first.
  void open(std::unique_ptr<Protocol> protocol, bool tls_first);
  void tick(MonotonicTime now);
  void flush();
  // Nothing more is received, whatever the protocol says.
  void shut() { shut_ = true; }
  // Ends it now; nothing is called any more.
  void drop();

  void send(std::string_view bytes) override;
  size_t unsent() const override { return output_.size() - written_; }
  void close() override;
  void start_tls() override;
  void pause() override { paused_ = true; }
  void resume() override;

 private:
  enum class State { kOpening, kOpen, kClosing, kLingering, kGone };

  void read_some();
  void throw_away();
  void shake_hands();
  void wait_read();
  void wait_write();
  void ready();
  void begin_linger();
  void end();

  ConnectionHost& host_;
  boost::asio::ip::tcp::socket socket_;
  const uint64_t id_;
  std::shared_ptr<const TlsContext> tls_;
  Transport transport_;
  std::unique_ptr<Protocol> protocol_;
  State state_ = State::kOpening;
  MonotonicTime deadline_;  // of opening or of closing
  std::string output_;
  size_t written_ = 0;        // of output_
  bool handshaking_ = false;  // TLS has started and is not agreed
  bool tls_wanted_ = false;   // as soon as the output is out
  bool paused_ = false;
  bool shut_ = false;
  bool waits_read_ = false;
  bool waits_write_ = false;
  bool flush_listed_ = false;
};

}  // namespace fairlead::edge
