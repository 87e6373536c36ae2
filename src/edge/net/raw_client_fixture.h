// For tests: a client that sends and expects bytes. It waits as long as a test may take, never a
// fixed time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fairlead::edge {

class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer = 0) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (receive_buffer > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }
  int socket() const { return socket_; }

  // False: the server has closed, or does not read.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  // What came up to and with `end`; all there was if the server closed before.
  std::string until(std::string_view end) {
    while (true) {
      if (size_t found = read_.find(end); found != std::string::npos) {
        std::string text = read_.substr(0, found + end.size());
        read_.erase(0, text.size());
        return text;
      }
      if (!receive()) return std::exchange(read_, {});
    }
  }
  std::string line() { return until("\r\n"); }
  // All that comes until the server closes.
  std::string rest() {
    while (receive()) {
    }
    return std::exchange(read_, {});
  }

 private:
  bool receive() {
    char buffer[4096];
    ssize_t count = ::recv(socket_, buffer, sizeof(buffer), 0);
    if (count <= 0) return false;
    read_.append(buffer, static_cast<size_t>(count));
    return true;
  }

  int socket_ = -1;
  bool connected_ = false;
  std::string read_;
};

}  // namespace fairlead::edge
