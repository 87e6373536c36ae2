#include "edge/net/connection.h"

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::edge {

using boost::asio::ip::tcp;

Connection::Connection(ConnectionHost& host, tcp::socket socket, uint64_t id,
                       std::shared_ptr<const TlsContext> tls)
    : host_(host),
      socket_(std::move(socket)),
      id_(id),
      tls_(std::move(tls)),
      transport_(socket_.native_handle()) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(tcp::socket::keep_alive(true), ignored);
  deadline_ = host_.now() + limits::kHandshakeWait;
}

void Connection::open(std::unique_ptr<Protocol> protocol, bool tls_first) {
  protocol_ = std::move(protocol);
  if (tls_ && tls_first) {
    start_tls();
  } else {
    state_ = State::kOpen;
    protocol_->opened(host_.now());
    read_some();
  }
}

void Connection::tick(MonotonicTime now) {
  switch (state_) {
    case State::kOpening:
    case State::kClosing:
    case State::kLingering:
      if (now >= deadline_) end();
      return;
    case State::kOpen:
      if (handshaking_ && now >= deadline_) return end();
      protocol_->tick(now);
      return;
    case State::kGone:
      return;
  }
}

// --- Sending -------------------------------------------------------------------------------------

void Connection::send(std::string_view bytes) {
  if (state_ != State::kOpen && state_ != State::kOpening) return;
  output_.append(bytes);
  if (flush_listed_ || waits_write_) return;
  flush_listed_ = true;
  host_.flush_later(shared_from_this());
}

void Connection::flush() {
  flush_listed_ = false;
  if (state_ == State::kGone || state_ == State::kLingering || waits_write_) return;
  // Under TLS nothing can be said before the handshake is over.
  while (unsent() > 0 && !handshaking_) {
    Transport::Step step = transport_.write(std::string_view(output_).substr(written_));
    if (step.status == Transport::Status::kWantWrite) return wait_write();
    if (step.status == Transport::Status::kWantRead) return wait_read();
    if (step.status == Transport::Status::kClosed) return end();
    written_ += step.bytes;
    protocol_->sent(step.bytes);
  }
  if (unsent() > 0) return;
  output_ = {};
  written_ = 0;
  if (tls_wanted_) {
    tls_wanted_ = false;
    shake_hands();
  } else if (state_ == State::kClosing) {
    begin_linger();
  }
}

void Connection::wait_write() {
  if (waits_write_) return;
  waits_write_ = true;
  socket_.async_wait(tcp::socket::wait_write,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_write_ = false;
                       if (self->state_ == State::kGone) return;
                       if (error) return self->end();
                       if (self->handshaking_) return self->shake_hands();
                       self->flush();
                     });
}

// --- Receiving -----------------------------------------------------------------------------------

void Connection::wait_read() {
  if (waits_read_) return;
  waits_read_ = true;
  socket_.async_wait(tcp::socket::wait_read,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_read_ = false;
                       if (self->state_ == State::kGone) return;
                       if (error) return self->end();
                       self->ready();
                     });
}

void Connection::ready() {
  if (handshaking_) return shake_hands();
  if (state_ == State::kLingering) return throw_away();
  if (unsent() > 0) flush();
  read_some();
}

void Connection::read_some() {
  for (int reads = 0; state_ == State::kOpen && !paused_ && !shut_ && !handshaking_; ++reads) {
    if (tls_wanted_) return;
    if (reads == limits::kReadsInARow) {
      boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->read_some(); });
      return;
    }
    std::span<char> buffer = host_.read_buffer();
    Transport::Step step = transport_.read(buffer);
    if (step.status == Transport::Status::kWantRead) return wait_read();
    if (step.status == Transport::Status::kWantWrite) return wait_write();
    if (step.status == Transport::Status::kClosed) return end();
    protocol_->received(std::string_view(buffer.data(), step.bytes));
  }
}

void Connection::resume() {
  if (!paused_) return;
  paused_ = false;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->read_some(); });
}

void Connection::throw_away() {
  for (int reads = 0; reads < limits::kReadsInARow; ++reads) {
    Transport::Step step = transport_.read(host_.read_buffer());
    if (step.status == Transport::Status::kClosed) return end();
    if (step.status != Transport::Status::kDone) break;
  }
  wait_read();
}

// --- TLS -----------------------------------------------------------------------------------------

void Connection::start_tls() {
  check(tls_ && !transport_.secure() && !tls_wanted_, "TLS starts once");
  tls_wanted_ = true;
  flush_listed_ = true;
  host_.flush_later(shared_from_this());
}

void Connection::shake_hands() {
  if (!handshaking_) {
    handshaking_ = true;
    deadline_ = host_.now() + limits::kHandshakeWait;
    if (!transport_.start_tls(*tls_)) return end();
  }
  switch (transport_.handshake()) {
    case Transport::Status::kWantRead:
      return wait_read();
    case Transport::Status::kWantWrite:
      return wait_write();
    case Transport::Status::kClosed:
      return end();
    case Transport::Status::kDone:
      break;
  }
  handshaking_ = false;
  if (state_ == State::kOpening) {
    state_ = State::kOpen;
    protocol_->opened(host_.now());
  }
  flush();
  read_some();
}

// --- Ending --------------------------------------------------------------------------------------

void Connection::close() {
  if (state_ != State::kOpen && state_ != State::kOpening) return;
  state_ = State::kClosing;
  deadline_ = host_.now() + limits::kLingerWait;
  if (flush_listed_ || waits_write_) return;
  flush_listed_ = true;
  host_.flush_later(shared_from_this());
}

void Connection::begin_linger() {
  state_ = State::kLingering;
  transport_.end();
  throw_away();
}

void Connection::end() {
  if (state_ == State::kGone) return;
  std::shared_ptr<Connection> self = shared_from_this();
  drop();
  protocol_->closed();
  protocol_.reset();
  host_.gone(id_);
}

void Connection::drop() {
  state_ = State::kGone;
  output_ = {};
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace fairlead::edge
