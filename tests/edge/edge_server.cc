#include "tests/edge/edge_server.h"

#include <cstdio>
#include <thread>

#include <unistd.h>

namespace fairlead::edge {

namespace {

constexpr const char* kPools = R"(
topics:
  job.echo: echo
pools:
  echo: {}
)";

// Ends when whoever started us has closed the pipe, or died.
void wait_for_end_of_input() {
  char buffer[256];
  while (::read(STDIN_FILENO, buffer, sizeof(buffer)) > 0) {
  }
}

}  // namespace

int EdgeServer::run() {
  loop_.post([this] { tasks_.spawn(start()); });
  std::thread watcher;
  loop_.post([&] {
    watcher = std::thread([this] {
      wait_for_end_of_input();
      loop_.post([this] { tasks_.spawn(stop()); });
    });
  });
  loop_.run();
  nats_.reset();
  resp_.reset();
  tasks_.drop();
  bus_.drop();
  scheduler_.reset();
  if (status_ != 0) std::_Exit(status_);  // the watcher may wait for ever
  watcher.join();
  return status_;
}

Task<void> EdgeServer::start() {
  Result<void> bus = co_await bus_.start();
  auto pools = routing::parse_pool_map(kPools);
  scheduler::Settings settings;
  settings.alone = true;
  scheduler_ = std::make_unique<scheduler::Scheduler>(
      scheduler::Plugs{loop_, clock_, random_, store_, bus_, gate_, log_}, settings,
      std::make_shared<routing::PoolMap>(*std::move(pools)));
  Result<void> scheduler = co_await scheduler_->start();
  Result<void> listening = listen();
  if (!bus || !scheduler || !listening) {
    if (!listening) std::fprintf(stderr, "%s\n", listening.error().message.c_str());
    loop_.stop();
    co_return;
  }
  status_ = 0;
  std::printf("nats %u\nresp %u\nready\n", nats_->port(), resp_->port());
  std::fflush(stdout);
}

Result<void> EdgeServer::listen() {
  std::shared_ptr<const TlsContext> tls;
  if (!options_.tls.certificate.empty()) {
    auto loaded = TlsContext::load(options_.tls);
    if (!loaded) return std::unexpected(loaded.error());
    tls = *std::move(loaded);
  }
  nats_.emplace(NatsListener::Plugs{loop_, clock_, random_, bus_, log_},
                NatsOptions{.address = options_.address,
                            .port = options_.nats_port,
                            .credentials = options_.credentials,
                            .tls = tls,
                            .ping_every = options_.ping_every,
                            .tick_every = options_.tick_every});
  if (auto started = nats_->start(); !started) return started;
  resp_.emplace(
      RespListener::Plugs{loop_, clock_, store_},
      RespOptions{
          .address = options_.address, .port = 0, .credentials = options_.credentials, .tls = tls});
  return resp_->start();
}

Task<void> EdgeServer::stop() {
  using namespace std::chrono_literals;
  if (status_ == 0) {
    co_await nats_->stop(5s);
    co_await resp_->stop(5s);
    co_await scheduler_->stop(5s);
  }
  loop_.stop();
}

}  // namespace fairlead::edge
