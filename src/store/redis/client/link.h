// One connection: over TCP or a socket in the file system, with or without TLS. Given up after a
// time if its owner says so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "base/time.h"
#include "store/redis/client/address.h"
#include "store/redis/client/tls_options.h"

namespace fairlead::store::redis {

namespace asio = boost::asio;

class Link {
 public:
  explicit Link(asio::io_context& context);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // A server that does not take what is sent to it for `silence` is given up.
  asio::awaitable<Result<void>> connect(const Endpoint& endpoint, Duration silence);
  // From here on everything is encrypted, and the other side has shown who it is.
  asio::awaitable<Result<void>> secure(const TlsOptions& options, const Endpoint& endpoint);
  // At least one byte, or an error at the end. What it gives stands until the next call.
  asio::awaitable<Result<std::string_view>> read();
  asio::awaitable<Result<void>> write(std::string_view bytes);
  // Bytes that came so far.
  uint64_t received() const { return received_; }

  // Ends the connection when the time has come; each call puts it off anew.
  void give_up_after(Duration duration);
  void never_give_up() { timer_.cancel(); }
  // `why` is what its waiting calls then say.
  void close(std::string why);
  void close();

 private:
  using Socket = asio::generic::stream_protocol::socket;

  std::unexpected<Error> lost(std::string_view doing, const boost::system::error_code& error) const;

  asio::io_context& context_;
  asio::steady_timer timer_;
  Socket socket_;
  std::optional<asio::ssl::context> tls_context_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
  std::string buffer_;
  std::string why_closed_;
  uint64_t received_ = 0;
};

}  // namespace fairlead::store::redis
