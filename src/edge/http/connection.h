// One connection: requests come in one after the other, each is answered before the next is read.
// On the server's thread; the coroutine that serves it keeps it alive.
#pragma once

#include <deque>
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
  Connection(Server::Core& core, Listener& listener, EitherStream::Socket socket);

  // `crowded`: there are too many; it is told so and closed.
  void start(bool crowded);
  void close();
  // Ends what has taken too long.
  void sweep(MonotonicTime now);

  void set_call(Bridge::CallId id) { call_ = id; }
  void answer(Reply reply);

  bool deliver(const std::string& id, const StreamEvent& event) override;

 private:
  template <class T>
  using awaitable = boost::asio::awaitable<T>;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Streaming { kNo, kEvents, kWebSocket };

  awaitable<void> serve(bool crowded);
  awaitable<bool> serve_one();
  awaitable<void> refuse_unread(boost::system::error_code error);
  // The request of the parser; nothing when it was refused and answered.
  std::expected<Request, Reply> take_request();
  awaitable<Reply> reply_to(Request& request);
  awaitable<bool> send(Reply reply, const Request& request, bool keep_alive);
  awaitable<bool> write(std::string_view bytes);
  void expire_after(Duration duration);
  void wake();
  awaitable<void> wait_to_be_woken();

  // connection_stream.cc
  awaitable<void> stream_events(const Request& request, StreamWish wish);
  awaitable<void> stream_web_socket(const Request& request, StreamWish wish);
  awaitable<void> watch_for_end();
  std::string stream_head(const Request& request) const;

  Server::Core& core_;
  Listener& listener_;
  EitherStream stream_;
  Peer peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string request_id_;
  bool head_only_ = false;

  // Woken by an answer, a frame or the sweep.
  boost::asio::steady_timer signal_;
  bool woken_ = false;
  std::optional<MonotonicTime> deadline_;
  bool closed_ = false;

  Bridge::CallId call_ = 0;
  std::optional<MonotonicTime> call_deadline_;
  std::optional<Reply> answer_;

  Streaming streaming_ = Streaming::kNo;
  std::deque<std::string> frames_;
  size_t frames_bytes_ = 0;
  bool ping_due_ = false;
  MonotonicTime next_ping_{};
  MonotonicTime next_key_check_{};
  MonotonicTime heard_{};
  const Request* stream_request_ = nullptr;
};

}  // namespace fairlead::http
