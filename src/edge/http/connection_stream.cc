// A connection that became a stream of events: as server-sent events or as a WebSocket. It takes
// its events from the hub as fast as its reader takes them from it; one that does not take a
// chunk in time is dropped, and may come back with the id of the last event it saw.
#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/text.h"
#include "edge/http/connection.h"

namespace fairlead::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr size_t kFromReaderBytesMax = 4096;

std::string_view last_event_id(const Request& request) {
  std::string_view id = trim(request.header("last-event-id"));
  return id.empty() ? request.parameter("last_event_id") : id;
}

// The subprotocol to agree to: the name alone of ["cordum-api-key", key], else the very word.
std::string agreed_protocol(const Request& request) {
  for (std::string_view protocol : split(request.header("sec-websocket-protocol"), ',')) {
    protocol = trim(protocol);
    if (protocol.starts_with("cordum-api-key")) return std::string(protocol);
  }
  return "";
}

// Counts a reader for as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<size_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;

 private:
  std::atomic<size_t>& count_;
};

std::string as_server_sent(const EventHub::Told& told) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", told.id, told.event->name,
                     told.event->data);
}

std::string as_message(const EventHub::Told& told) {
  return fmt::format(R"({{"eventId":"{}",{})", told.id,
                     std::string_view(told.event->data).substr(1));
}

}  // namespace

Connection::awaitable<void> Connection::stream(const Request& request, StreamWish wish) {
  if (core_.hub.readers() >= core_.settings.streams_max) {
    Reply full = problem(503, "there are too many readers of streams", "too_many_streams");
    co_await send(std::move(full.with("Retry-After", "5")), request, false);
    co_return;
  }
  Counted counted(core_.stream_readers);
  stream_request_ = &request;
  heard_ = core_.clock.monotonic();
  next_ping_ = heard_ + core_.settings.timeouts.stream_ping;
  next_key_check_ = heard_ + core_.settings.timeouts.key_check;
  if (websocket::is_upgrade(parser_->get())) {
    co_await stream_web_socket(request, std::move(wish));
  } else {
    co_await stream_events(request, std::move(wish));
  }
  core_.hub.remove(this);
  streaming_ = Streaming::kNo;
  stream_request_ = nullptr;
  close();
}

// Whoever reads a stream sends nothing: anything that comes, or the end, ends it.
Connection::awaitable<void> Connection::watch_for_end() {
  char byte = 0;
  co_await stream_.async_read_some(asio::buffer(&byte, 1), kToken);
  close();
}

// What waits, up to a chunk of it.
std::string Connection::event_frames() {
  std::string frames;
  if (std::exchange(ping_due_, false)) frames = ": ping\n\n";
  while (frames.size() < limits::kStreamChunkBytes) {
    auto told = core_.hub.next(this);
    if (!told) break;
    frames += as_server_sent(*told);
  }
  return frames;
}

Connection::awaitable<void> Connection::stream_events(const Request& request, StreamWish wish) {
  streaming_ = Streaming::kEvents;
  core_.hub.add(this, std::move(wish), last_event_id(request));
  asio::co_spawn(
      core_.context,
      [self = shared_from_this()]() -> awaitable<void> { co_await self->watch_for_end(); },
      asio::detached);
  std::string frames = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\nConnection: close\r\n{}\r\nretry: {}\n\n",
      common_head(request), limits::kStreamRetry / std::chrono::milliseconds(1));
  while (!closed_) {
    frames += event_frames();
    if (frames.empty()) {
      co_await wait_to_be_woken();
      continue;
    }
    expire_after(core_.settings.timeouts.stream_write);
    if (!co_await write(frames)) co_return;
    deadline_.reset();
    frames.clear();
  }
}

Connection::awaitable<void> Connection::stream_web_socket(const Request& request, StreamWish wish) {
  const ServerTimeouts& timeouts = core_.settings.timeouts;
  auto socket = std::make_shared<websocket::stream<EitherStream&>>(stream_);
  socket->read_message_max(kFromReaderBytesMax);
  socket->set_option(websocket::stream_base::decorator(
      [protocol = agreed_protocol(request), id = request_id_](websocket::response_type& response) {
        if (!protocol.empty()) response.set("Sec-WebSocket-Protocol", protocol);
        for (const auto& [name, value] : security_headers()) response.set(name, value);
        response.set("X-Request-Id", id);
      }));
  expire_after(timeouts.header);
  {
    auto [error] = co_await socket->async_accept(parser_->get(), kToken);
    if (error) co_return;
  }
  deadline_.reset();
  streaming_ = Streaming::kWebSocket;
  socket->control_callback(
      [this](websocket::frame_type, beast::string_view) { heard_ = core_.clock.monotonic(); });
  core_.hub.add(this, std::move(wish), last_event_id(request));
  // Reads, so that pings, pongs and the end are heard; what a reader says is not listened to.
  auto listen = [self = shared_from_this(), socket]() -> awaitable<void> {
    beast::flat_buffer said(kFromReaderBytesMax);
    for (;;) {
      said.clear();
      auto [error, bytes] = co_await socket->async_read(said, kToken);
      (void)bytes;
      if (error) break;
      self->heard_ = self->core_.clock.monotonic();
    }
    self->close();
  };
  asio::co_spawn(core_.context, std::move(listen), asio::detached);
  socket->text(true);
  while (!closed_) {
    if (std::exchange(ping_due_, false)) {
      expire_after(timeouts.stream_write);
      auto [error] = co_await socket->async_ping({}, kToken);
      if (error) co_return;
      deadline_.reset();
    }
    auto told = core_.hub.next(this);
    if (!told) {
      if (!ping_due_) co_await wait_to_be_woken();
      continue;
    }
    const std::string message = as_message(*told);
    expire_after(timeouts.stream_write);
    auto [error, bytes] = co_await socket->async_write(asio::buffer(message), kToken);
    (void)bytes;
    if (error) co_return;
    deadline_.reset();
  }
}

}  // namespace fairlead::http
