// A TCP connection with or without TLS, as one kind of stream: what reads and writes it is compiled
// once.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace fairlead::http {

class EitherStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;
  using TlsStream = boost::asio::ssl::stream<Socket&>;

  EitherStream(Socket socket, std::shared_ptr<boost::asio::ssl::context> context)
      : socket_(std::move(socket)), context_(std::move(context)) {
    if (context_) tls_.emplace(socket_, *context_);
  }
  EitherStream(const EitherStream&) = delete;
  EitherStream& operator=(const EitherStream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  TlsStream* tls() { return tls_ ? &*tls_ : nullptr; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Token>(token));
    return socket_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Token>(token));
    return socket_.async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  Socket socket_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<TlsStream> tls_;
};

// How a WebSocket ends its connection; these three are found by argument.
inline void beast_close_socket(EitherStream& stream) {
  boost::system::error_code ignored;
  stream.socket().close(ignored);
}

template <class Handler>
void async_teardown(boost::beast::role_type, EitherStream& stream, Handler&& handler) {
  boost::system::error_code ignored;
  stream.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  boost::asio::post(stream.get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
    handler(boost::system::error_code());
  });
}

inline void teardown(boost::beast::role_type, EitherStream& stream,
                     boost::system::error_code& error) {
  stream.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, error);
}

}  // namespace fairlead::http
