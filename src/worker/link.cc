#include "worker/link.h"

#include <fmt/core.h>
#include <openssl/err.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace fairlead::worker {

namespace {

namespace ssl = asio::ssl;
using asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

}  // namespace

std::unexpected<Error> Link::lost(std::string_view doing,
                                  const boost::system::error_code& error) const {
  return fail(ErrorCode::kUnavailable, gave_up_ ? fmt::format("{}: no answer in time", doing)
                                                : fmt::format("{}: {}", doing, error.message()));
}

asio::awaitable<Result<void>> Link::connect(const ServerAddress& address) {
  tcp::resolver resolver(context_);
  auto [unknown, found] =
      co_await resolver.async_resolve(address.host, std::to_string(address.port), kToken);
  if (unknown) co_return lost("cannot find " + address.host, unknown);
  socket_ = std::make_unique<tcp::socket>(context_);
  auto [refused, endpoint] = co_await asio::async_connect(*socket_, found, kToken);
  (void)endpoint;
  if (refused) co_return lost("cannot connect to " + address.shown(), refused);
  boost::system::error_code ignored;
  socket_->set_option(tcp::no_delay(true), ignored);
  stream_ = std::make_unique<http::EitherStream>(std::move(*socket_), nullptr);
  socket_.reset();
  buffer_.resize(limits::kReadBytes);
  co_return Result<void>{};
}

asio::awaitable<Result<void>> Link::secure(const ServerAddress& address) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code error;
  if (address.ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(address.ca_file, error);
  }
  if (error) {
    co_return fail(ErrorCode::kInvalid,
                   fmt::format("cannot read {}: {}", address.ca_file, error.message()));
  }
  if (!address.certificate.empty()) {
    context->use_certificate_chain_file(address.certificate, error);
    if (!error) context->use_private_key_file(address.key, ssl::context::pem, error);
    if (error) {
      co_return fail(ErrorCode::kInvalid,
                     fmt::format("cannot use {} with {}: {}", address.certificate, address.key,
                                 error.message()));
    }
  }
  stream_ = std::make_unique<http::EitherStream>(std::move(stream_->socket()), context);
  auto& tls = *stream_->tls();
  tls.set_verify_mode(ssl::verify_peer, error);
  tls.set_verify_callback(ssl::host_name_verification(address.host), error);
  SSL_set_tlsext_host_name(tls.native_handle(), address.host.c_str());
  auto [refused] = co_await tls.async_handshake(ssl::stream_base::client, kToken);
  if (refused) co_return lost("no TLS with " + address.shown(), refused);
  co_return Result<void>{};
}

asio::awaitable<Result<std::string_view>> Link::read() {
  auto [error, count] = co_await stream_->async_read_some(asio::buffer(buffer_), kToken);
  if (error) co_return lost("the connection ended", error);
  co_return std::string_view(buffer_).substr(0, count);
}

asio::awaitable<Result<void>> Link::write(std::string_view bytes) {
  auto [error, count] = co_await asio::async_write(*stream_, asio::buffer(bytes), kToken);
  (void)count;
  if (error) co_return lost("the connection ended", error);
  co_return Result<void>{};
}

void Link::give_up_after(Duration duration) {
  timer_.expires_after(duration);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    gave_up_ = true;
    close();
  });
}

void Link::close() {
  boost::system::error_code ignored;
  if (socket_) socket_->close(ignored);
  if (stream_) stream_->socket().close(ignored);
}

}  // namespace fairlead::worker
