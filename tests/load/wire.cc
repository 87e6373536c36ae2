#include "tests/load/wire.h"

#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace fairlead::load {

using boost::system::error_code;

namespace {

constexpr int kConnectWaitMs = 1000;

}  // namespace

bool Wire::connect(const Endpoint& place) {
  const asio::ip::tcp::endpoint there(asio::ip::make_address_v4(place.host), place.port);
  error_code error;
  socket_.open(asio::ip::tcp::v4(), error);
  if (!error) socket_.non_blocking(true, error);
  if (!error) socket_.connect(there, error);
  if (error == asio::error::in_progress) {
    pollfd connected{socket_.native_handle(), POLLOUT, 0};
    asio::detail::socket_option::integer<SOL_SOCKET, SO_ERROR> failed;
    error = asio::error::timed_out;
    if (::poll(&connected, 1, kConnectWaitMs) == 1) socket_.get_option(failed, error);
    if (!error && failed.value() != 0) error = asio::error::connection_refused;
  }
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  return !error;
}

void Wire::start(Received received, std::function<void()> closed) {
  received_ = std::move(received);
  closed_ = std::move(closed);
  read();
}

void Wire::send(std::string_view bytes) {
  unsent_ += bytes;
  if (!writing_) write();
}

void Wire::close() {
  closed_ = nullptr;
  received_ = nullptr;
  error_code error;
  socket_.close(error);
}

void Wire::read() {
  socket_.async_read_some(asio::buffer(buffer_),
                          [self = shared_from_this()](error_code error, size_t size) {
                            if (error) return self->lose();
                            self->held_.append(self->buffer_.data(), size);
                            if (!self->received_) return;
                            size_t taken = self->received_(self->held_);
                            self->held_.erase(0, taken);
                            if (self->received_) self->read();
                          });
}

void Wire::write() {
  if (unsent_.empty() || !socket_.is_open()) return;
  writing_ = true;
  sending_ = std::exchange(unsent_, {});
  asio::async_write(socket_, asio::buffer(sending_),
                    [self = shared_from_this()](error_code error, size_t) {
                      // Reading finds the end: what came before it is still to be heard.
                      if (error) return;
                      self->writing_ = false;
                      self->write();
                    });
}

void Wire::lose() {
  if (!closed_) return;
  auto closed = std::exchange(closed_, nullptr);
  close();
  closed();
}

}  // namespace fairlead::load
