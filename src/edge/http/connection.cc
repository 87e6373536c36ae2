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

#include "base/text.h"
#include "edge/http/request_reading.h"

namespace fairlead::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = beast::http;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr size_t kReadBytes = 16 << 10;

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

Reply stopping() {
  return std::move(problem(503, "the server is stopping", "stopping").with("Retry-After", "1"));
}

}  // namespace

std::string header_lines(const Pairs& headers) {
  std::string lines;
  for (const auto& [name, value] : headers) {
    lines += name;
    lines += ": ";
    for (char c : value) lines += c == '\r' || c == '\n' ? ' ' : c;
    lines += "\r\n";
  }
  return lines;
}

Connection::Connection(ServerCore& core, Listener& listener, EitherStream::Socket socket, Peer peer)
    : core_(core),
      listener_(listener),
      stream_(std::move(socket), listener.tls),
      peer_(std::move(peer)),
      buffer_(limits::kHttpHeaderBytesMax + core.settings.largest_body()),
      signal_(core.context) {}

const Pairs& security_headers() {
  static const Pairs headers{
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"}};
  return headers;
}

std::string Connection::common_head(const Request& request) const {
  static const std::string security = header_lines(security_headers());
  std::string head = security + "X-Request-Id: " + request_id_ + "\r\n";
  Pairs cross_origin;
  listener_.gatekeeper.add_cross_origin(request, cross_origin);
  return head + header_lines(cross_origin);
}

void Connection::start(bool crowded) {
  core_.add(*this, listener_);
  auto run = [self = shared_from_this(), crowded]() -> awaitable<void> {
    try {
      co_await self->serve(crowded);
    } catch (const std::exception& error) {
      self->core_.backend.log.error("a connection failed", {{"error", error.what()}});
      self->close();
    }
    self->core_.hub.remove(self.get());
    self->core_.forget_call(self->call_);
    self->core_.remove(*self, self->listener_);
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
    request_id_ = core_.new_request_id();
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
  body_bytes_max_ = core_.settings.largest_body();
  parser_->body_limit(body_bytes_max_);
  {
    auto [error, bytes] = co_await bhttp::async_read_header(stream_, buffer_, *parser_, kToken);
    if (!error) error = limit_body();
    if (error) {
      co_await refuse_unread(error);
      co_return false;
    }
  }
  deadline_.reset();
  request_id_ = given_request_id(parser_->get()).value_or("");
  if (request_id_.empty()) request_id_ = core_.new_request_id();
  head_only_ = parser_->get().method() == bhttp::verb::head;
  auto request = read_head(parser_->get());
  if (!request) co_return co_await refuse(std::move(request.error()), {});
  auto route = admit(*request);
  if (!route) co_return co_await refuse(std::move(route.error()), *request);
  if (!co_await read_body()) co_return false;

  std::optional<Answering> answering(core_.answering);
  request->body = std::move(parser_->get().body());
  Reply reply = co_await reply_to(*request, **route);
  if (closed_) co_return false;
  if (reply.stream && !head_only_) {
    answering.reset();
    auto wish = *std::move(reply.stream);
    co_await stream(*request, std::move(wish));
    co_return false;
  }
  const bool keep_alive = parser_->keep_alive() && !core_.draining;
  co_return co_await send(std::move(reply), *request, keep_alive);
}

bool Connection::waits_for_continue() const {
  return lower(std::string_view(parser_->get()[bhttp::field::expect])) == "100-continue";
}

// False: there is nobody to answer any more.
Connection::awaitable<bool> Connection::read_body() {
  if (parser_->is_done()) co_return true;
  expire_after(core_.settings.timeouts.read);
  if (waits_for_continue() && !co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  auto [error, bytes] = co_await bhttp::async_read(stream_, buffer_, *parser_, kToken);
  deadline_.reset();
  if (error) co_await refuse_unread(error);
  co_return !error;
}

// By what the request is about, now that its head was read.
boost::system::error_code Connection::limit_body() {
  std::string_view target = parser_->get().target();
  const bool job = parser_->get().method() == bhttp::verb::post &&
                   target.substr(0, target.find('?')) == kSubmitPath;
  body_bytes_max_ = job ? core_.settings.job_bytes_max : core_.settings.body_bytes_max;
  parser_->body_limit(body_bytes_max_);
  if (parser_->content_length().value_or(0) > body_bytes_max_) return bhttp::error::body_limit;
  return {};
}

// Few bytes that come in any case: reading them costs less than another connection.
bool Connection::body_can_be_skipped() const {
  if (parser_->is_done()) return true;
  auto length = parser_->content_length();
  return length && *length <= limits::kHttpSkippedBytesMax && !waits_for_continue();
}

// Answers before the body is read. True: another request may follow.
Connection::awaitable<bool> Connection::refuse(Reply reply, const Request& request) {
  const bool keep_alive = body_can_be_skipped() && parser_->keep_alive() && !core_.draining;
  bool kept = false;
  {
    Answering answering(core_.answering);
    kept = co_await send(std::move(reply), request, keep_alive);
  }
  if (parser_->is_done()) co_return kept;
  if (!kept) {
    co_await linger();
    co_return false;
  }
  expire_after(core_.settings.timeouts.read);
  auto [error, bytes] = co_await bhttp::async_read(stream_, buffer_, *parser_, kToken);
  deadline_.reset();
  co_return !error;
}

Connection::awaitable<void> Connection::refuse_unread(boost::system::error_code error) {
  request_id_ = core_.new_request_id();
  head_only_ = false;
  Reply reply;
  if (error == bhttp::error::header_limit) {
    reply = problem(431,
                    fmt::format("the headers have more than {} bytes", limits::kHttpHeaderBytesMax),
                    "headers_too_large");
  } else if (error == bhttp::error::body_limit) {
    reply = problem(413, fmt::format("the body has more than {} bytes", body_bytes_max_),
                    "body_too_large");
  } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
             error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
    reply = problem(400, "not an HTTP request: " + error.message(), "bad_http");
  } else {
    co_return;  // it is gone
  }
  co_await send(std::move(reply), {}, false);
  co_await linger();
}

// What it still sends is read, for a moment, so that it sees the answer and not a reset.
Connection::awaitable<void> Connection::linger() {
  boost::system::error_code ignored;
  if (!stream_.tls()) stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  expire_after(core_.settings.timeouts.header);
  size_t drained = 0;
  while (!closed_ && drained < 4 * core_.settings.largest_body()) {
    buffer_.clear();
    auto [failed, bytes] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kToken);
    if (failed) co_return;
    drained += bytes;
  }
}

std::expected<const Route*, Reply> Connection::admit(Request& request) {
  if (core_.draining) return std::unexpected(stopping());
  Gatekeeper& gatekeeper = listener_.gatekeeper;
  const Api& api = *listener_.settings.api;
  if (!listener_.settings.public_without_keys) {
    if (auto allowed = gatekeeper.check_origin(request, peer_); !allowed) {
      return std::unexpected(std::move(allowed.error()));
    }
  }
  if (parser_->get().method() == bhttp::verb::options) {
    return std::unexpected(gatekeeper.preflight(request));
  }
  auto caller = gatekeeper.admit(request, peer_, !api.is_public(request.path), core_.clock.wall(),
                                 core_.clock.monotonic());
  if (!caller) return std::unexpected(std::move(caller.error()));
  request.caller = *std::move(caller);
  return api.find(request);
}

Connection::awaitable<Reply> Connection::reply_to(Request& request, const Route& route) {
  if (core_.draining) co_return stopping();  // since it was admitted
  auto planned = Api::read(route, request, core_.tools);
  request.body = {};  // the head stays, for the answer
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
    } catch (const std::exception& error) {
      reply = problem(500, "internal error", "internal_error");
      reply.detail = error.what();
    }
    reply.render = nullptr;  // what it was made of goes before it is sent
    core_.answer_bytes.count(reply);
  }
  if (!reply.detail.empty()) core_.log_problem(request, request_id_, reply);
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\n", reply.status,
      std::string_view(bhttp::obsolete_reason(static_cast<bhttp::status>(reply.status))));
  out += common_head(request);
  out += header_lines(reply.headers);
  if (reply.status != 204) {
    out += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", reply.content_type,
                       reply.body.size());
  }
  out += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (head_only_ || reply.status == 204) reply.body = {};
  // A large body is not copied.
  const bool apart = reply.body.size() > limits::kHttpSmallAnswerBytes;
  if (!apart) out += reply.body;
  expire_after(core_.settings.timeouts.write);
  bool written = co_await write(out);
  if (written && apart) written = co_await write(reply.body);
  deadline_.reset();
  co_return written&& keep_alive;
}

}  // namespace fairlead::http
