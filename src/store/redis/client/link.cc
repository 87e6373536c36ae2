#include "store/redis/client/link.h"

#include <fmt/core.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/limits.h"

namespace fairlead::store::redis {

namespace {

namespace ssl = asio::ssl;
using asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

Result<void> prepare(ssl::context& context, const TlsOptions& options) {
  boost::system::error_code error;
  auto refuse = [&](const std::string& file) {
    return fail(ErrorCode::kInvalid, fmt::format("TLS cannot use {}: {}", file, error.message()));
  };
  SSL_CTX_set_min_proto_version(context.native_handle(),
                                options.only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(options.ca_file, error);
  }
  if (error) return refuse(options.ca_file);
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return fail(ErrorCode::kInvalid, "TLS needs a certificate and its key, or neither");
  }
  if (options.certificate_file.empty()) return {};
  context.use_certificate_chain_file(options.certificate_file, error);
  if (error) return refuse(options.certificate_file);
  context.use_private_key_file(options.key_file, ssl::context::pem, error);
  if (error) return refuse(options.key_file);
  return {};
}

}  // namespace

Link::Link(asio::io_context& context) : context_(context), timer_(context), socket_(context) {}

std::unexpected<Error> Link::lost(std::string_view doing,
                                  const boost::system::error_code& error) const {
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: {}", doing, why_closed_.empty() ? error.message() : why_closed_));
}

asio::awaitable<Result<void>> Link::connect(const Endpoint& endpoint, Duration silence) {
  buffer_.resize(limits::kReadBytes);
  std::string what = "cannot connect to " + endpoint.shown();
  if (!endpoint.path.empty()) {
    asio::local::stream_protocol::endpoint place(endpoint.path);
    auto [refused] = co_await socket_.async_connect(place, kToken);
    if (refused) co_return lost(what, refused);
    co_return Result<void>{};
  }
  tcp::resolver resolver(context_);
  auto [unknown, found] =
      co_await resolver.async_resolve(endpoint.host, std::to_string(endpoint.port), kToken);
  if (unknown) co_return lost("cannot find " + endpoint.host, unknown);
  boost::system::error_code refused = asio::error::not_found;
  for (const auto& entry : found) {
    boost::system::error_code ignored;
    socket_.close(ignored);
    std::tie(refused) = co_await socket_.async_connect(entry.endpoint(), kToken);
    if (!refused || !why_closed_.empty()) break;
  }
  if (refused) co_return lost(what, refused);
  boost::system::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  const auto silence_ms = static_cast<unsigned>(silence / std::chrono::milliseconds(1));
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms,
               sizeof(silence_ms));
  co_return Result<void>{};
}

asio::awaitable<Result<void>> Link::secure(const TlsOptions& options, const Endpoint& endpoint) {
  tls_context_.emplace(ssl::context::tls_client);
  if (auto prepared = prepare(*tls_context_, options); !prepared) co_return prepared;
  tls_.emplace(socket_, *tls_context_);
  const std::string& name = options.server_name.empty() ? endpoint.host : options.server_name;
  boost::system::error_code error;
  if (!options.insecure) {
    tls_->set_verify_mode(ssl::verify_peer, error);
    tls_->set_verify_callback(ssl::host_name_verification(name), error);
  }
  SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str());
  auto [refused] = co_await tls_->async_handshake(ssl::stream_base::client, kToken);
  if (refused) co_return lost("no TLS with " + endpoint.shown(), refused);
  co_return Result<void>{};
}

asio::awaitable<Result<std::string_view>> Link::read() {
  boost::system::error_code error;
  size_t count = 0;
  if (tls_) {
    std::tie(error, count) = co_await tls_->async_read_some(asio::buffer(buffer_), kToken);
  } else {
    std::tie(error, count) = co_await socket_.async_read_some(asio::buffer(buffer_), kToken);
  }
  if (error) co_return lost("the connection to Redis ended", error);
  received_ += count;
  co_return std::string_view(buffer_).substr(0, count);
}

asio::awaitable<Result<void>> Link::write(std::string_view bytes) {
  while (!bytes.empty()) {
    boost::system::error_code error;
    size_t count = 0;
    if (tls_) {
      std::tie(error, count) = co_await tls_->async_write_some(asio::buffer(bytes), kToken);
    } else {
      std::tie(error, count) = co_await socket_.async_write_some(asio::buffer(bytes), kToken);
    }
    if (error) co_return lost("the connection to Redis ended", error);
    bytes.remove_prefix(count);
  }
  co_return Result<void>{};
}

void Link::give_up_after(Duration duration) {
  timer_.expires_after(duration);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) close("no answer in time");
  });
}

void Link::close(std::string why) {
  if (why_closed_.empty()) why_closed_ = std::move(why);
  close();
}

void Link::close() {
  boost::system::error_code ignored;
  timer_.cancel();
  socket_.close(ignored);
}

}  // namespace fairlead::store::redis
