// A connection that became a stream of events: as server-sent events or as a WebSocket. Frames wait
// in a bounded queue; a reader that falls behind is dropped and may come back with the id of the
// last event it saw.
#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
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

}  // namespace

bool Connection::deliver(const std::string& id, const StreamEvent& event) {
  if (closed_) return false;
  std::string frame;
  if (streaming_ == Streaming::kEvents) {
    frame = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event.name, event.data);
  } else {
    frame = fmt::format(R"({{"eventId":"{}",{})", id, std::string_view(event.data).substr(1));
  }
  frames_bytes_ += frame.size();
  frames_.push_back(std::move(frame));
  bool replaying = stream_request_ == nullptr;
  size_t frames_max = replaying ? limits::kStreamReplayEvents + 2 : limits::kStreamFramesMax;
  size_t bytes_max = replaying ? 2 * limits::kStreamReplayBytes : limits::kStreamBytesMax;
  if (frames_.size() > frames_max || frames_bytes_ > bytes_max) {
    // The hub forgets it with this answer; the coroutine ends when it runs again.
    close();
    return false;
  }
  wake();
  return true;
}

std::string Connection::stream_head(const Request& request) const {
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n";
  head += "X-Request-Id: " + request_id_ + "\r\n";
  Pairs headers;
  listener_.gatekeeper.add_cross_origin(request, headers);
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  return head + "\r\n" +
         fmt::format("retry: {}\n\n", limits::kStreamRetry / std::chrono::milliseconds(1));
}

// Whoever reads a stream sends nothing: anything that comes, or the end, ends it.
Connection::awaitable<void> Connection::watch_for_end() {
  char byte = 0;
  auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(&byte, 1), kToken);
  (void)error;
  (void)bytes;
  close();
}

Connection::awaitable<void> Connection::stream_events(const Request& request, StreamWish wish) {
  if (core_.hub.readers() >= limits::kStreamListenersMax) {
    Reply full = problem(503, "there are too many readers of streams", "too_many_streams");
    co_await send(std::move(full.with("Retry-After", "5")), request, false);
    co_return;
  }
  const ServerTimeouts& timeouts = core_.settings.timeouts;
  Counted counted(core_.stream_readers);
  streaming_ = Streaming::kEvents;
  frames_.push_back(stream_head(request));
  core_.hub.add(this, std::move(wish), last_event_id(request));
  stream_request_ = &request;
  MonotonicTime now = core_.clock.monotonic();
  next_ping_ = now + timeouts.stream_ping;
  next_key_check_ = now + timeouts.key_check;
  asio::co_spawn(
      core_.context,
      [self = shared_from_this()]() -> awaitable<void> { co_await self->watch_for_end(); },
      asio::detached);
  while (!closed_) {
    std::string bytes;
    if (std::exchange(ping_due_, false)) bytes = ": ping\n\n";
    while (!frames_.empty() && bytes.size() < limits::kStreamBytesMax) {
      bytes += frames_.front();
      frames_bytes_ -= std::min(frames_bytes_, frames_.front().size());
      frames_.pop_front();
    }
    if (bytes.empty()) {
      co_await wait_to_be_woken();
      continue;
    }
    expire_after(timeouts.stream_write);
    if (!co_await write(bytes)) break;
    deadline_.reset();
  }
  core_.hub.remove(this);
  streaming_ = Streaming::kNo;
  stream_request_ = nullptr;
  close();
}

Connection::awaitable<void> Connection::stream_web_socket(const Request& request, StreamWish wish) {
  if (core_.hub.readers() >= limits::kStreamListenersMax) {
    Reply full = problem(503, "there are too many readers of streams", "too_many_streams");
    co_await send(std::move(full.with("Retry-After", "5")), request, false);
    co_return;
  }
  const ServerTimeouts& timeouts = core_.settings.timeouts;
  auto socket = std::make_shared<websocket::stream<EitherStream&>>(stream_);
  socket->read_message_max(kFromReaderBytesMax);
  socket->set_option(websocket::stream_base::decorator(
      [protocol = agreed_protocol(request), id = request_id_](websocket::response_type& response) {
        if (!protocol.empty()) response.set("Sec-WebSocket-Protocol", protocol);
        response.set("X-Request-Id", id);
      }));
  expire_after(timeouts.header);
  {
    auto [error] = co_await socket->async_accept(parser_->get(), kToken);
    if (error) co_return;
  }
  deadline_.reset();
  Counted counted(core_.stream_readers);
  streaming_ = Streaming::kWebSocket;
  MonotonicTime now = core_.clock.monotonic();
  heard_ = now;
  next_ping_ = now + timeouts.stream_ping;
  next_key_check_ = now + timeouts.key_check;
  socket->control_callback(
      [this](websocket::frame_type, beast::string_view) { heard_ = core_.clock.monotonic(); });
  core_.hub.add(this, std::move(wish), last_event_id(request));
  stream_request_ = &request;
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
      if (error) break;
      deadline_.reset();
    }
    if (frames_.empty()) {
      frames_bytes_ = 0;
      if (!ping_due_) co_await wait_to_be_woken();
      continue;
    }
    std::string frame = std::move(frames_.front());
    frames_.pop_front();
    frames_bytes_ -= std::min(frames_bytes_, frame.size());
    expire_after(timeouts.stream_write);
    auto [error, bytes] = co_await socket->async_write(asio::buffer(frame), kToken);
    (void)bytes;
    if (error) break;
    deadline_.reset();
  }
  core_.hub.remove(this);
  streaming_ = Streaming::kNo;
  stream_request_ = nullptr;
  close();
}

}  // namespace fairlead::http
