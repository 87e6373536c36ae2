// A connection that hands over bytes as they come and sends what it is told in large pieces. It
// lives in a shared pointer until it is closed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace fairlead::load {

namespace asio = boost::asio;

// Where somebody listens; a port alone is one of this machine.
struct Endpoint {
  Endpoint(uint16_t given_port) : port(given_port) {}  // NOLINT: a port is one
  Endpoint(std::string given_host, uint16_t given_port)
      : host(std::move(given_host)), port(given_port) {}

  std::string host = "127.0.0.1";
  uint16_t port;
};

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  // Takes bytes from the front and says how many.
  using Received = std::function<size_t(std::string_view)>;

  explicit Wire(asio::io_context& context) : socket_(context) {}

  // False: nobody listens there, or it does not answer within a second, for which this blocks.
  bool connect(const Endpoint& place);
  // `closed` is called once when the other side is gone; not after close().
  void start(Received received, std::function<void()> closed);
  void send(std::string_view bytes);
  void close();

 private:
  void read();
  void write();
  void lose();

  asio::ip::tcp::socket socket_;
  Received received_;
  std::function<void()> closed_;
  std::array<char, 16 << 10> buffer_;
  std::string held_;
  std::string unsent_;
  std::string sending_;
  bool writing_ = false;
};

}  // namespace fairlead::load
