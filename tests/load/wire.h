// A connection to 127.0.0.1 that hands over bytes as they come and sends what it is told in large
// pieces. It lives in a shared pointer until it is closed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace fairlead::load {

namespace asio = boost::asio;

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  // Takes bytes from the front and says how many.
  using Received = std::function<size_t(std::string_view)>;

  explicit Wire(asio::io_context& context) : socket_(context) {}

  // False: nobody listens there. Blocks while it connects.
  bool connect(uint16_t port);
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
