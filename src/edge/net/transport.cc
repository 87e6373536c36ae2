#include "edge/net/transport.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace fairlead::edge {

namespace {

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

ssize_t receive(int socket, char* bytes, size_t count) {
  ssize_t result = 0;
  do {
    result = ::recv(socket, bytes, count, 0);
  } while (result < 0 && errno == EINTR);
  return result;
}

// A peer that has gone is an error here, not a signal to the process.
ssize_t transmit(int socket, const char* bytes, size_t count) {
  ssize_t result = 0;
  do {
    result = ::send(socket, bytes, count, MSG_NOSIGNAL);
  } while (result < 0 && errno == EINTR);
  return result;
}

// OpenSSL's own socket BIO writes with write(), which raises SIGPIPE: so this is ours.
int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
}

int bio_read(BIO* bio, char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  ssize_t result = receive(socket_of(bio), bytes, static_cast<size_t>(count));
  if (result < 0 && would_block(errno)) BIO_set_retry_read(bio);
  if (result == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(result);
}

int bio_write(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  ssize_t result = transmit(socket_of(bio), bytes, static_cast<size_t>(count));
  if (result < 0 && would_block(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(result);
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return 0;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fairlead socket");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

}  // namespace

Transport::~Transport() {
  SSL_free(tls_);
}

bool Transport::start_tls(const TlsContext& context) {
  tls_ = SSL_new(context.native());
  BIO* bio = tls_ ? BIO_new(socket_method()) : nullptr;
  if (!bio) {
    SSL_free(std::exchange(tls_, nullptr));
    return false;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket_)));
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_, bio, bio);
  SSL_set_accept_state(tls_);
  return true;
}

Transport::Status Transport::handshake() {
  ERR_clear_error();
  int result = SSL_do_handshake(tls_);
  return result == 1 ? Status::kDone : tls_step(result).status;
}

Transport::Step Transport::read(std::span<char> buffer) {
  if (tls_) {
    ERR_clear_error();
    return tls_step(SSL_read(tls_, buffer.data(), static_cast<int>(buffer.size())));
  }
  ssize_t result = receive(socket_, buffer.data(), buffer.size());
  if (result > 0) return {Status::kDone, static_cast<size_t>(result)};
  return {result < 0 && would_block(errno) ? Status::kWantRead : Status::kClosed, 0};
}

Transport::Step Transport::write(std::string_view bytes) {
  if (tls_) {
    ERR_clear_error();
    size_t count = std::min<size_t>(bytes.size(), INT_MAX);
    return tls_step(SSL_write(tls_, bytes.data(), static_cast<int>(count)));
  }
  ssize_t result = transmit(socket_, bytes.data(), bytes.size());
  if (result > 0) return {Status::kDone, static_cast<size_t>(result)};
  return {result < 0 && would_block(errno) ? Status::kWantWrite : Status::kClosed, 0};
}

Transport::Step Transport::tls_step(int result) {
  if (result > 0) return {Status::kDone, static_cast<size_t>(result)};
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
      return {Status::kWantRead, 0};
    case SSL_ERROR_WANT_WRITE:
      return {Status::kWantWrite, 0};
    default:
      ERR_clear_error();
      return {Status::kClosed, 0};
  }
}

void Transport::end() {
  if (tls_ && SSL_is_init_finished(tls_)) {
    ERR_clear_error();
    SSL_shutdown(tls_);
    ERR_clear_error();
  }
  ::shutdown(socket_, SHUT_WR);
}

}  // namespace fairlead::edge
