#include <array>
#include <list>
#include <map>
#include <optional>

#include <boost/asio/write.hpp>

#include "tests/chaos/network.h"
#include "tests/cluster/redis_server_process.h"

namespace fairlead::chaos {

namespace {

using boost::system::error_code;
using load::asio::ip::tcp;

tcp::endpoint on_loopback(uint16_t port) {
  return {load::asio::ip::address_v4::loopback(), port};
}

// One connection: what comes at one end is sent at the other, until it is held up.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(load::asio::io_context& context, tcp::socket from)
      : ends_{std::move(from), tcp::socket(context)} {}

  void start(uint16_t port, bool held) {
    held_ = held;
    ends_[1].async_connect(on_loopback(port), [self = shared_from_this()](error_code error) {
      if (error) return self->close();
      for (size_t end : {0, 1}) self->pass(end);
    });
  }

  void hold(bool held) {
    held_ = held;
    if (held) return;
    for (size_t end : {0, 1}) {
      if (auto held_up = std::exchange(held_up_[end], {})) send(end, *held_up);
    }
  }

  void close() {
    closed_ = true;
    error_code ignored;
    for (tcp::socket& end : ends_) end.close(ignored);
  }
  bool closed() const { return closed_; }

 private:
  void pass(size_t from) {
    ends_[from].async_read_some(load::asio::buffer(buffers_[from]),
                                [self = shared_from_this(), from](error_code error, size_t size) {
                                  if (error) return self->close();
                                  if (!self->held_) return self->send(from, size);
                                  self->held_up_[from] = size;
                                });
  }

  void send(size_t from, size_t size) {
    load::asio::async_write(ends_[1 - from], load::asio::buffer(buffers_[from], size),
                            [self = shared_from_this(), from](error_code error, size_t) {
                              if (error) return self->close();
                              self->pass(from);
                            });
  }

  std::array<tcp::socket, 2> ends_;
  std::array<std::array<char, 16 << 10>, 2> buffers_;
  std::array<std::optional<size_t>, 2> held_up_{};  // bytes that were read and are not sent
  bool held_ = false;
  bool closed_ = false;
};

// Takes connections of one node to another. While it is cut, those that come wait.
class Proxy {
 public:
  Proxy(load::asio::io_context& context, uint16_t to)
      : context_(context), acceptor_(context, on_loopback(0)), to_(to) {
    accept();
  }

  uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void hold(bool held) {
    held_ = held;
    for (auto& passage : passages_) passage->hold(held);
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      std::erase_if(passages_, [](const auto& passage) { return passage->closed(); });
      passages_.push_back(std::make_shared<Passage>(context_, std::move(socket)));
      passages_.back()->start(to_, held_);
      accept();
    });
  }

  load::asio::io_context& context_;
  tcp::acceptor acceptor_;
  uint16_t to_;
  bool held_ = false;
  std::list<std::shared_ptr<Passage>> passages_;
};

class Proxies final : public Network {
 public:
  explicit Proxies(load::asio::io_context& context) : context_(context) {}

  load::Endpoint add(const std::string& node) override {
    return ports_.emplace(node, cluster::free_port()).first->second;
  }

  void enter(const std::string&) override {}

  load::Endpoint route(const std::string& from, const std::string& to) override {
    return proxy(from, to).port();
  }

  void cut(const std::string& one, const std::string& other) override { hold(one, other, true); }
  void mend(const std::string& one, const std::string& other) override { hold(one, other, false); }

  const char* kind() const override { return "proxies"; }

 private:
  Proxy& proxy(const std::string& from, const std::string& to) {
    return proxies_.try_emplace({from, to}, context_, ports_.at(to)).first->second;
  }

  void hold(const std::string& one, const std::string& other, bool held) {
    for (auto& [way, proxy] : proxies_) {
      if (way == std::pair(one, other) || way == std::pair(other, one)) proxy.hold(held);
    }
  }

  load::asio::io_context& context_;
  std::map<std::string, uint16_t> ports_;
  std::map<std::pair<std::string, std::string>, Proxy> proxies_;
};

}  // namespace

std::unique_ptr<Network> make_proxies(load::asio::io_context& context) {
  return std::make_unique<Proxies>(context);
}

}  // namespace fairlead::chaos
