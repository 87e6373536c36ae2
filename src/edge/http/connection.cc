#include "edge/http/connection.h"

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/text.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = beast::http;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr size_t kReadBytes = 16 << 10;

std::optional<Method> method_of(bhttp::verb verb) {
  if (verb == bhttp::verb::get || verb == bhttp::verb::head) return Method::kGet;
  if (verb == bhttp::verb::post) return Method::kPost;
  if (verb == bhttp::verb::put) return Method::kPut;
  if (verb == bhttp::verb::patch) return Method::kPatch;
  if (verb == bhttp::verb::delete_) return Method::kDelete;
  return std::nullopt;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

// Counts as long as it lives.
class Answering {
 public:
  explicit Answering(std::atomic<size_t>& count) : count_(count) { ++count_; }
  ~Answering() { --count_; }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  std::atomic<size_t>& count_;
};

// What every answer carries.
constexpr std::string_view kSecurityHeaders =
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";

}  // namespace

Connection::Connection(Server::Core& core, Listener& listener, EitherStream::Socket socket)
    : core_(core),
      listener_(listener),
      stream_(std::move(socket), listener.tls),
      buffer_(limits::kHttpHeaderBytesMax + limits::kHttpBodyBytesMax),
      signal_(core.context) {
  boost::system::error_code ignored;
  auto remote = stream_.socket().remote_endpoint(ignored);
  peer_ = {remote.address().to_string(), remote.address().is_loopback()};
}

void Connection::start(bool crowded) {
  core_.add(*this);
  auto run = [self = shared_from_this(), crowded]() -> awaitable<void> {
    co_await self->serve(crowded);
    self->core_.hub.remove(self.get());
    self->core_.forget_call(self->call_);
    self->core_.remove(*self);
  };
  asio::co_spawn(core_.context, std::move(run), asio::detached);
}

void Connection::close() {
  closed_ = true;
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
  wake();
}

void Connection::expire_after(Duration duration) {
  deadline_ = core_.clock.monotonic() + duration;
}

void Connection::wake() {
  woken_ = true;
  signal_.cancel();
}

Connection::awaitable<void> Connection::wait_to_be_woken() {
  if (!woken_) {
    signal_.expires_at(asio::steady_timer::time_point::max());
    co_await signal_.async_wait(kToken);
  }
  woken_ = false;
}

void Connection::answer(Reply reply) {
  answer_ = std::move(reply);
  wake();
}

void Connection::sweep(MonotonicTime now) {
  if (deadline_ && *deadline_ <= now) return close();
  if (call_deadline_ && *call_deadline_ <= now) {
    call_deadline_.reset();
    core_.forget_call(call_);
    answer(std::move(
        problem(503, "the server did not answer in time", "timeout").with("Retry-After", "1")));
  }
  if (streaming_ == Streaming::kNo) return;
  if (now >= next_key_check_) {
    next_key_check_ = now + core_.settings.timeouts.key_check;
    if (!listener_.gatekeeper.still_holds(*stream_request_, core_.clock.wall())) return close();
  }
  if (now >= next_ping_) {
    if (streaming_ == Streaming::kWebSocket &&
        now - heard_ > 3 * core_.settings.timeouts.stream_ping) {
      return close();
    }
    next_ping_ = now + core_.settings.timeouts.stream_ping;
    ping_due_ = true;
    wake();
  }
}

Connection::awaitable<void> Connection::serve(bool crowded) {
  if (auto* tls = stream_.tls()) {
    expire_after(core_.settings.timeouts.header);
    auto [error] = co_await tls->async_handshake(asio::ssl::stream_base::server, kToken);
    if (error) co_return;
  }
  if (crowded) {
    Reply full = problem(503, "there are too many connections", "too_many_connections");
    co_await send(std::move(full.with("Retry-After", "5")), {}, false);
    close();
    co_return;
  }
  while (!closed_ && co_await serve_one()) {
  }
  if (auto* tls = stream_.tls(); tls && !closed_) {
    expire_after(core_.settings.timeouts.header);
    co_await tls->async_shutdown(kToken);
  }
  close();
}

// True: another request may follow.
Connection::awaitable<bool> Connection::serve_one() {
  const ServerTimeouts& timeouts = core_.settings.timeouts;
  if (buffer_.size() == 0) {
    expire_after(timeouts.idle);
    auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kToken);
    if (error) co_return false;
    buffer_.commit(bytes);
  }
  expire_after(timeouts.header);
  parser_.emplace();
  parser_->header_limit(limits::kHttpHeaderBytesMax);
  parser_->body_limit(core_.settings.body_bytes_max);
  {
    auto [error, bytes] = co_await bhttp::async_read_header(stream_, buffer_, *parser_, kToken);
    if (error) {
      co_await refuse_unread(error);
      co_return false;
    }
  }
  expire_after(timeouts.read);
  if (lower(std::string_view(parser_->get()[bhttp::field::expect])) == "100-continue" &&
      !co_await write("HTTP/1.1 100 Continue\r\n\r\n")) {
    co_return false;
  }
  {
    auto [error, bytes] = co_await bhttp::async_read(stream_, buffer_, *parser_, kToken);
    if (error) {
      co_await refuse_unread(error);
      co_return false;
    }
  }
  deadline_.reset();
  std::optional<Answering> answering(core_.answering);
  auto request = take_request();
  if (!request) {
    const bool keep_alive = parser_->keep_alive() && !core_.draining;
    co_return co_await send(std::move(request.error()), {}, keep_alive);
  }
  Reply reply = co_await reply_to(*request);
  if (closed_) co_return false;
  if (reply.stream) {
    answering.reset();
    auto wish = *std::move(reply.stream);
    if (beast::websocket::is_upgrade(parser_->get())) {
      co_await stream_web_socket(*request, std::move(wish));
    } else {
      co_await stream_events(*request, std::move(wish));
    }
    co_return false;
  }
  const bool keep_alive = parser_->keep_alive() && !core_.draining;
  co_return co_await send(std::move(reply), *request, keep_alive);
}

Connection::awaitable<void> Connection::refuse_unread(boost::system::error_code error) {
  request_id_.clear();
  head_only_ = false;
  Reply reply;
  if (error == bhttp::error::header_limit) {
    reply = problem(431,
                    fmt::format("the headers have more than {} bytes", limits::kHttpHeaderBytesMax),
                    "headers_too_large");
  } else if (error == bhttp::error::body_limit) {
    reply =
        problem(413, fmt::format("the body has more than {} bytes", core_.settings.body_bytes_max),
                "body_too_large");
  } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
             error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
    reply = problem(400, "not an HTTP request: " + error.message(), "bad_http");
  } else {
    co_return;  // it is gone
  }
  co_await send(std::move(reply), {}, false);
  // What it still sends is read, for a moment, so that it sees the answer and not a reset.
  boost::system::error_code ignored;
  if (!stream_.tls()) stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  expire_after(core_.settings.timeouts.header);
  size_t drained = 0;
  while (!closed_ && drained < 4 * limits::kHttpBodyBytesMax) {
    buffer_.clear();
    auto [failed, bytes] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kToken);
    if (failed) co_return;
    drained += bytes;
  }
}

std::expected<Request, Reply> Connection::take_request() {
  auto& message = parser_->get();
  Request request;
  request_id_.clear();
  head_only_ = message.method() == bhttp::verb::head;
  for (const auto& field : message) {
    request.headers.emplace_back(lower(std::string_view(field.name_string())), field.value());
  }
  std::string_view given = trim(request.header("x-request-id"));
  request_id_ = !given.empty() && given.size() <= 128 && is_plain(given)
                    ? std::string(given)
                    : core_.random.token().substr(0, 16);

  std::string_view target = message.target();
  if (target.size() > limits::kHttpTargetBytesMax) {
    return std::unexpected(problem(414,
                                   fmt::format("the target has {} bytes, must have at most {}",
                                               target.size(), limits::kHttpTargetBytesMax),
                                   "target_too_long"));
  }
  if (!target.starts_with('/')) {
    return std::unexpected(problem(400, "the target must begin with /", "bad_http"));
  }
  size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  auto query = parse_query(target.substr(std::min(mark + 1, target.size())));
  if (!query) return std::unexpected(problem(400, query.error().message, "invalid_request"));
  request.query = *std::move(query);
  request.body = std::move(message.body());
  if (message.method() != bhttp::verb::options) {
    auto method = method_of(message.method());
    if (!method) {
      return std::unexpected(problem(
          501,
          fmt::format("{} is not served", std::string_view(message.method_string()).substr(0, 32)),
          "method_not_served"));
    }
    request.method = *method;
  }
  return request;
}

Connection::awaitable<Reply> Connection::reply_to(Request& request) {
  if (core_.draining) {
    co_return std::move(
        problem(503, "the server is stopping", "stopping").with("Retry-After", "1"));
  }
  Gatekeeper& gatekeeper = listener_.gatekeeper;
  const Api& api = *listener_.settings.api;
  if (!listener_.settings.public_without_keys) {
    if (auto allowed = gatekeeper.check_origin(request, peer_); !allowed) {
      co_return std::move(allowed.error());
    }
  }
  if (parser_->get().method() == bhttp::verb::options) co_return gatekeeper.preflight(request);
  auto caller = gatekeeper.admit(request, peer_, !api.is_public(request.path), core_.clock.wall(),
                                 core_.clock.monotonic());
  if (!caller) co_return std::move(caller.error());
  request.caller = *std::move(caller);

  // The head stays here, for the answer; the body goes.
  std::string body = std::exchange(request.body, {});
  Request to_read = request;
  to_read.body = std::move(body);
  auto planned = api.plan(std::move(to_read), core_.tools);
  if (!planned) co_return std::move(planned.error());
  if (core_.calls_out >= limits::kHttpCallsMax) {
    co_return std::move(
        problem(503, "too many calls are under way", "overloaded").with("Retry-After", "1"));
  }
  answer_.reset();
  call_deadline_ = core_.clock.monotonic() + planned->patience;
  core_.call(*this, std::move(planned->call));
  while (!answer_ && !closed_) co_await wait_to_be_woken();
  call_deadline_.reset();
  if (!answer_) co_return Reply{};
  co_return *std::exchange(answer_, std::nullopt);
}

Connection::awaitable<bool> Connection::write(std::string_view bytes) {
  auto [error, written] = co_await asio::async_write(stream_, asio::buffer(bytes), kToken);
  co_return !error;
}

Connection::awaitable<bool> Connection::send(Reply reply, const Request& request, bool keep_alive) {
  if (reply.render) {
    try {
      reply.body = reply.render();
    } catch (const std::exception&) {
      reply = problem(500, "internal error", "internal_error");
    }
  }
  listener_.gatekeeper.add_cross_origin(request, reply.headers);
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\n", reply.status,
      std::string_view(bhttp::obsolete_reason(static_cast<bhttp::status>(reply.status))));
  out += kSecurityHeaders;
  if (!request_id_.empty()) out += "X-Request-Id: " + request_id_ + "\r\n";
  for (const auto& [name, value] : reply.headers) {
    out += name;
    out += ": ";
    // A value comes from a caller now and then: it never ends its line.
    for (char c : value) out += c == '\r' || c == '\n' ? ' ' : c;
    out += "\r\n";
  }
  if (reply.status != 204) {
    out += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", reply.content_type,
                       reply.body.size());
  }
  out += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (!head_only_ && reply.status != 204) out += reply.body;
  expire_after(core_.settings.timeouts.write);
  bool written = co_await write(out);
  deadline_.reset();
  co_return written&& keep_alive;
}

}  // namespace fairlead::http
