// For tests: a socket that listens on a free port of this machine. Nobody answers there unless the
// test does.
#pragma once

#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fairlead::edge {

class Loopback {
 public:
  Loopback() {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, plain, size) == 0 && ::listen(socket_, 8) == 0) {
      ::getsockname(socket_, plain, &size);
      port_ = ntohs(address.sin_port);
    }
  }
  ~Loopback() { ::close(socket_); }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  int accept() { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }
  // From now on accept() answers -1.
  void stop() { ::shutdown(socket_, SHUT_RDWR); }
  uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_ = -1;
  uint16_t port_ = 0;
};

}  // namespace fairlead::edge
