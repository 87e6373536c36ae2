// A connection to one of the listeners, with or without TLS, that can be given up after a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "edge/http/either_stream.h"
#include "worker/options.h"

namespace fairlead::worker {

namespace asio = boost::asio;

class Link {
 public:
  explicit Link(asio::io_context& context) : context_(context), timer_(context) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  asio::awaitable<Result<void>> connect(const ServerAddress& address);
  // From here on everything is encrypted; the other side must show a certificate for its name.
  asio::awaitable<Result<void>> secure(const ServerAddress& address);
  // At least one byte, or an error at the end.
  asio::awaitable<Result<std::string_view>> read();
  asio::awaitable<Result<void>> write(std::string_view bytes);

  // Ends the connection when the time has come; each call puts it off anew.
  void give_up_after(Duration duration);
  void never_give_up() { timer_.cancel(); }
  void close();

 private:
  std::unexpected<Error> lost(std::string_view doing, const boost::system::error_code& error) const;

  asio::io_context& context_;
  asio::steady_timer timer_;
  std::unique_ptr<http::EitherStream> stream_;
  std::unique_ptr<asio::ip::tcp::socket> socket_;
  std::string buffer_;
  bool gave_up_ = false;
};

}  // namespace fairlead::worker
