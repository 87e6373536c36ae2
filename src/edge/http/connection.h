// One connection: requests come in one after the other, each is answered before the next is read.
// On the server's thread; the coroutine that serves it keeps it alive.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "edge/http/either_stream.h"
#include "edge/http/server_core.h"

namespace fairlead::http {

class Connection final : public std::enable_shared_from_this<Connection>, public EventHub::Reader {
 public:
  Connection(ServerCore& core, Listener& listener, EitherStream::Socket socket, Peer peer);

  // `crowded`: there are too many; it is told so and closed.
  void start(bool crowded);
  void close();
  // Ends what has taken too long.
  void sweep(MonotonicTime now);

  void set_call(Bridge::CallId id) { call_ = id; }
  void answer(Reply reply);

  void events_wait() override { wake(); }
  void left_behind() override { close(); }

 private:
  template <class T>
  using awaitable = boost::asio::awaitable<T>;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Streaming { kNo, kEvents, kWebSocket };

  awaitable<void> serve(bool crowded);
  awaitable<bool> serve_one();
  // Whether the request may be served, as its head tells. The reply is all there is to say to it.
  std::expected<const Route*, Reply> admit(Request& request);
  awaitable<bool> read_body();
  awaitable<bool> refuse(Reply reply, const Request& request);
  awaitable<void> refuse_unread(boost::system::error_code error);
  awaitable<void> linger();
  awaitable<Reply> reply_to(Request& request, const Route& route);
  awaitable<bool> send(Reply reply, const Request& request, bool keep_alive);
  awaitable<bool> write(std::string_view bytes);
  boost::system::error_code limit_body();
  bool waits_for_continue() const;
  bool body_can_be_skipped() const;
  // What every answer carries, and what a page of another origin must be told.
  std::string common_head(const Request& request) const;
  void expire_after(Duration duration);
  void wake();
  awaitable<void> wait_to_be_woken();

  // connection_stream.cc
  awaitable<void> stream(const Request& request, StreamWish wish);
  awaitable<void> stream_events(const Request& request, StreamWish wish);
  awaitable<void> stream_web_socket(const Request& request, StreamWish wish);
  awaitable<void> watch_for_end();
  std::string event_frames();

  ServerCore& core_;
  Listener& listener_;
  EitherStream stream_;
  Peer peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  size_t body_bytes_max_ = 0;  // of the request that is read
  std::string request_id_;
  bool head_only_ = false;

  // Woken by an answer, an event or the sweep.
  boost::asio::steady_timer signal_;
  bool woken_ = false;
  std::optional<MonotonicTime> deadline_;
  bool closed_ = false;

  Bridge::CallId call_ = 0;
  std::optional<MonotonicTime> call_deadline_;
  std::optional<Reply> answer_;

  Streaming streaming_ = Streaming::kNo;
  bool ping_due_ = false;
  MonotonicTime next_ping_{};
  MonotonicTime next_key_check_{};
  MonotonicTime heard_{};
  const Request* stream_request_ = nullptr;
};

const Pairs& security_headers();
// A block of header lines. A value comes from a caller now and then: it never ends its line.
std::string header_lines(const Pairs& headers);

}  // namespace fairlead::http
