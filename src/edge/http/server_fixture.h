// For tests: a server on a free port over a scheduler in memory, with its loop on a thread, and a
// client that sends bytes as they are.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "bus/local/local_bus.h"
#include "edge/http/server.h"
#include "gate/topic_gate.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "store/memory/memory_store.h"

namespace fairlead::http {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;

// A connection that speaks in plain bytes.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : socket_(context_) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }

  void send(std::string_view bytes) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
  }
  // Reads until the text is there; "" when the other side ends before.
  std::string read_until(std::string_view text) {
    size_t at = 0;
    while ((at = held_.find(text)) == held_.npos) {
      if (!read_some()) return "";
    }
    std::string found = held_.substr(0, at + text.size());
    held_.erase(0, at + text.size());
    return found;
  }
  std::string read_bytes(size_t count) {
    while (held_.size() < count && read_some()) {
    }
    std::string found = held_.substr(0, count);
    held_.erase(0, found.size());
    return found;
  }
  // Everything until the other side ends.
  std::string read_all() {
    while (read_some()) {
    }
    return std::exchange(held_, {});
  }
  // Head and body of one answer.
  std::string read_answer() {
    std::string head = read_until("\r\n\r\n");
    size_t at = head.find("Content-Length: ");
    if (at == head.npos) return head;
    return head + read_bytes(std::stoul(head.substr(at + 16)));
  }
  bool ended() { return held_.empty() && !read_some(); }
  tcp::socket& socket() { return socket_; }

 private:
  bool read_some() {
    char bytes[4096];
    boost::system::error_code error;
    size_t count = socket_.read_some(boost::asio::buffer(bytes), error);
    held_.append(bytes, count);
    return !error;
  }

  boost::asio::io_context context_;
  tcp::socket socket_;
  std::string held_;
};

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override {
    if (!thread_.joinable()) return;
    on_loop([this] {
      tap_tasks_.drop();
      tap_.reset();
      server_.reset();
      backend_.reset();
      book_.reset();
      scheduler_.reset();
      bus_.reset();
      other_store_.reset();
      return true;
    });
    loop_.stop();
    thread_.join();
  }

  // Runs a function on the loop and tells its answer.
  template <class F>
  std::invoke_result_t<F> on_loop(F function) {
    std::promise<std::invoke_result_t<F>> answer;
    loop_.post([&] { answer.set_value(function()); });
    return answer.get_future().get();
  }
  bool finish(Task<Result<void>> task) {
    std::promise<bool> done;
    auto run = [](Task<Result<void>> inner, std::promise<bool>& into) -> Task<void> {
      auto result = co_await std::move(inner);
      into.set_value(result.has_value());
    };
    loop_.post([&] { tasks_.spawn(run(std::move(task), done)); });
    return done.get_future().get();
  }

  void start(ServerSettings settings = {}, ListenSettings listen = {}) {
    thread_ = std::thread([this] { loop_.run(); });
    auto file = std::make_shared<routing::PoolMap>(
        *routing::parse_pool_map("topics: {job.default: default}\npools: {default: {}}\n"));
    on_loop([&] {
      store::Store& store = other_store_ ? *other_store_ : store_;
      bus_ = std::make_unique<bus::LocalBus>(loop_, clock_, store);
      scheduler::Settings own;
      own.alone = true;
      scheduler_ = std::make_unique<scheduler::Scheduler>(
          scheduler::Plugs{loop_, clock_, random_, store, *bus_, gate_, *log_}, own, file);
      book_ = std::make_unique<PoolBook>(
          loop_, store, file, [this](auto map) { scheduler_->set_pools(std::move(map)); });
      backend_ =
          std::make_unique<Backend>(Backend{loop_, clock_, random_, store, *bus_, *log_,
                                            *scheduler_, *book_, Build{}, clock_.monotonic()});
      return true;
    });
    EXPECT_TRUE(finish(bus_->start()));
    EXPECT_TRUE(finish(book_->start()));
    EXPECT_TRUE(finish(scheduler_->start()));
    on_loop([&] {
      server_ = std::make_unique<Server>(loop_, *backend_, settings);
      tap_ = std::make_unique<EventTap>(*backend_,
                                        EventTap::Outlet{[this](std::vector<TappedEvent> events) {
                                                           server_->publish(std::move(events));
                                                         },
                                                         [this] { server_->forget_events(); }});
      backend_->stream_readers = [this] { return server_->stream_readers(); };
      backend_->stream_opening = [this] { return tap_->expect_reader(); };
      return true;
    });
    listen_to(std::move(listen));
  }
  void listen_to(ListenSettings listen) {
    if (!listen.api) listen.api = std::make_shared<const Api>();
    auto port = on_loop([&] { return server_->listen(std::move(listen)); });
    ASSERT_TRUE(port.has_value()) << port.error().message;
    port_ = *port;
  }

  std::string request(std::string_view head, std::string_view body = {}) const {
    std::string text(head);
    text += " HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) + "\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + std::string(body);
  }
  std::string ask(std::string_view head, std::string_view body = {}) {
    RawClient client(port_);
    client.send(request(head, body));
    return client.read_answer();
  }
  static std::string field(const std::string& answer, const std::string& name) {
    size_t at = answer.find("\"" + name + "\":\"");
    if (at == answer.npos) return "";
    at += name.size() + 4;
    return answer.substr(at, answer.find('"', at) - at);
  }

  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  std::shared_ptr<Log> log_ = std::make_shared<NoLog>();
  store::MemoryStore store_{clock_};
  std::unique_ptr<store::Store> other_store_;  // instead, if a test has one
  gate::TopicGate gate_;
  std::unique_ptr<bus::LocalBus> bus_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<PoolBook> book_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<EventTap> tap_;
  Nursery tasks_;
  Nursery tap_tasks_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace fairlead::http
