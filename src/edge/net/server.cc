#include "edge/net/server.h"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "edge/net/connection.h"
#include "edge/net/net_limits.h"
#include "runtime/thread.h"

namespace fairlead::edge {

namespace asio = boost::asio;
using asio::ip::tcp;

class Server::Core final : public ConnectionHost {
 public:
  Core(ServerOptions options, const Clock& clock, Accept accept)
      : options_(std::move(options)),
        clock_(clock),
        accept_(std::move(accept)),
        buffer_(limits::kReadBytes) {}

  void cut() {
    if (!thread_) return;
    asio::post(context_, [this] { drop_all(); });
    thread_->join();
    thread_.reset();
  }

  Result<void> start() {
    boost::system::error_code error;
    asio::ip::address address = asio::ip::make_address(options_.address, error);
    tcp::endpoint endpoint(address, options_.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(limits::kAcceptBacklog, error);
    if (error) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot listen on {}:{}: {}", options_.address, options_.port,
                              error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    accept_next();
    tick_later();
    thread_.emplace(options_.name, [this] { context_.run(); });
    return {};
  }

  uint16_t port() const { return port_; }

  void post(Work work) {
    {
      std::lock_guard lock(mutex_);
      const bool first = inbox_.empty();
      inbox_.push_back(std::move(work));
      if (!first) return;
    }
    asio::post(context_, [this] { run_inbox(); });
  }

  void set_tls(std::shared_ptr<const TlsContext> tls) {
    post([this, given = std::move(tls)]() mutable { options_.tls = std::move(given); });
  }

  void shut_doors(Work then) {
    post([this, next = std::move(then)]() mutable {
      close_acceptor();
      for (auto& [id, connection] : connections_) connection->shut();
      post(std::move(next));
    });
  }

  void stop() {
    if (!thread_) return;
    asio::post(context_, [this] {
      close_acceptor();
      stopping_ = true;
      for (auto& [id, connection] : std::map(connections_)) connection->close();
      end_if_empty();
      pause_.expires_after(limits::kStopLingerWait);
      pause_.async_wait([this](boost::system::error_code error) {
        if (!error) drop_all();
      });
    });
    thread_->join();
    thread_.reset();
  }

  std::span<char> read_buffer() override { return buffer_; }
  MonotonicTime now() const override { return clock_.monotonic(); }

  void flush_later(std::shared_ptr<Connection> connection) override {
    if (to_flush_.empty()) asio::post(context_, [this] { flush(); });
    to_flush_.push_back(std::move(connection));
  }

  void gone(uint64_t id) override {
    connections_.erase(id);
    end_if_empty();
  }

 private:
  void accept_next() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        // Out of descriptors, or the like: trying again at once would spin.
        pause_.expires_after(limits::kAcceptPause);
        pause_.async_wait([this](boost::system::error_code) {
          if (acceptor_.is_open()) accept_next();
        });
        return;
      }
      take(std::move(socket));
      accept_next();
    });
  }

  void take(tcp::socket socket) {
    boost::system::error_code error;
    tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;  // gone already
    if (connections_.size() >= options_.connections_max) {
      socket.non_blocking(true, error);
      if (!options_.tls) socket.send(asio::buffer(options_.full_text), 0, error);
      return;
    }
    Peer peer{++accepted_, from.address().to_string(), from.port()};
    auto connection = std::make_shared<Connection>(*this, std::move(socket), peer.id, options_.tls);
    connections_.emplace(peer.id, connection);
    connection->open(accept_(*connection, peer), options_.tls_first);
  }

  void tick_later() {
    tick_.expires_after(options_.tick_every);
    tick_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      MonotonicTime now = clock_.monotonic();
      // A tick may end its connection.
      for (auto place = connections_.begin(); place != connections_.end();) {
        std::shared_ptr<Connection> connection = (place++)->second;
        connection->tick(now);
      }
      tick_later();
    });
  }

  void run_inbox() {
    std::vector<Work> batch;
    {
      std::lock_guard lock(mutex_);
      batch.swap(inbox_);
    }
    for (Work& work : batch) work();
  }

  void flush() {
    std::vector<std::shared_ptr<Connection>> batch;
    batch.swap(to_flush_);
    for (const auto& connection : batch) connection->flush();
  }

  void close_acceptor() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

  void end_if_empty() {
    if (stopping_ && connections_.empty()) context_.stop();
  }

  void drop_all() {
    for (auto& [id, connection] : connections_) connection->drop();
    context_.stop();
  }

  ServerOptions options_;
  const Clock& clock_;
  Accept accept_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer tick_{context_};
  asio::steady_timer pause_{context_};
  uint16_t port_ = 0;
  uint64_t accepted_ = 0;
  bool stopping_ = false;
  std::vector<char> buffer_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> to_flush_;
  std::mutex mutex_;
  std::vector<Work> inbox_;
  std::optional<Thread> thread_;
};

Server::Server(ServerOptions options, const Clock& clock, Accept accept)
    : core_(std::make_unique<Core>(std::move(options), clock, std::move(accept))) {}
Server::~Server() {
  core_->cut();
}
Result<void> Server::start() {
  return core_->start();
}
uint16_t Server::port() const {
  return core_->port();
}
void Server::post(Work work) {
  core_->post(std::move(work));
}
void Server::set_tls(std::shared_ptr<const TlsContext> tls) {
  core_->set_tls(std::move(tls));
}
void Server::shut_doors(Work then) {
  core_->shut_doors(std::move(then));
}
void Server::stop() {
  core_->stop();
}
void Server::cut() {
  core_->cut();
}

}  // namespace fairlead::edge
