#include "app/embedded_server.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/build_info.h"
#include "app/drain.h"
#include "app/file_watch.h"
#include "edge/metrics/metrics_api.h"

namespace fairlead::app {

namespace {

// Which setting an address came from, for who has to choose another.
Error at(const char* setting, const Error& error) {
  return {error.code,
          fmt::format("{} (--{} HOST:PORT chooses another address)", error.message, setting)};
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

std::string url(std::string_view scheme, const HostPort& address, uint16_t port) {
  return fmt::format("{}://{}", scheme, HostPort{address.host, port}.text());
}

}  // namespace

EmbeddedServer::EmbeddedServer(Config config, Log& log) : config_(std::move(config)), log_(log) {}

EmbeddedServer::~EmbeddedServer() {
  take_apart();
}

Result<void> EmbeddedServer::run() {
  if (auto opened = open(); !opened) return opened;
  loop_.post([this] { tasks_.spawn(live()); });
  loop_.run();
  take_apart();
  return outcome_;
}

Result<void> EmbeddedServer::open() {
  pools_mark_ = file_mark(config_.pools_file);
  auto pools = read_pools(config_.pools_file);
  if (!pools) return std::unexpected(pools.error());
  pools_file_ = *std::move(pools);
  keys_mark_ = file_mark(config_.key_source.file);
  auto keys = read_keys(config_.key_source);
  if (!keys) return std::unexpected(keys.error());
  keys_ = *std::move(keys);

  store::RocksOptions options;
  options.path = config_.data;
  auto opened = store::RocksStore::open(options, loop_, clock_);
  if (!opened) return std::unexpected(opened.error());
  store_ = *std::move(opened);
  bus_ = std::make_unique<bus::LocalBus>(loop_, clock_, *store_);
  scheduler_ = std::make_unique<scheduler::Scheduler>(
      scheduler::Plugs{loop_, clock_, random_, *store_, *bus_, gate_, log_}, config_.scheduler,
      pools_file_);
  bus_->on_terminated([this](bus::Delivery delivery, std::string reason) {
    return scheduler_->bury(std::move(delivery), std::move(reason));
  });
  book_ = std::make_unique<http::PoolBook>(
      loop_, *store_, pools_file_, [this](auto map) { scheduler_->set_pools(std::move(map)); });
  backend_ = std::make_unique<http::Backend>(http::Backend{loop_, clock_, random_, *store_, *bus_,
                                                           log_, *scheduler_, *book_, build_info(),
                                                           clock_.monotonic()});
  return {};
}

Task<void> EmbeddedServer::live() {
  outcome_ = co_await start();
  if (!outcome_) {
    loop_.stop();
    co_return;
  }
  started_ = true;
  announce();
  watch_files();
  if (drain_wanted_) co_return co_await stop();
  if (config_.demo) {
    demo_.emplace(*backend_, Demo::Place{api_url(), config_.data, !keys_->empty()}, say);
    co_await demo_->run();
  }
}

Task<Result<void>> EmbeddedServer::start() {
  if (auto bus = co_await bus_->start(); !bus) co_return bus;
  if (auto book = co_await book_->start(); !book) co_return book;
  if (auto scheduler = co_await scheduler_->start(); !scheduler) co_return scheduler;
  co_return listen();
}

Result<void> EmbeddedServer::listen() {
  if (auto listening = listen_http(); !listening) return listening;
  nats_.emplace(edge::NatsListener::Plugs{loop_, clock_, random_, *bus_, log_},
                edge::NatsOptions{.address = config_.workers.host,
                                  .port = config_.workers.port,
                                  .credentials = config_.credentials,
                                  .tls = config_.workers_tls});
  if (auto started = nats_->start(); !started) {
    return std::unexpected(at("listen-workers", started.error()));
  }
  resp_.emplace(edge::RespListener::Plugs{loop_, clock_, *store_},
                edge::RespOptions{.address = config_.payloads.host,
                                  .port = config_.payloads.port,
                                  .credentials = config_.credentials,
                                  .tls = config_.payloads_tls});
  if (auto started = resp_->start(); !started) {
    return std::unexpected(at("listen-payloads", started.error()));
  }
  return {};
}

Result<void> EmbeddedServer::listen_http() {
  http_ = std::make_unique<http::Server>(loop_, *backend_);
  tap_ = std::make_unique<http::EventTap>(*backend_, [this](std::vector<http::TappedEvent> events) {
    http_->publish(std::move(events));
  });
  backend_->stream_readers = [this] { return http_->stream_readers(); };
  backend_->stream_opening = [this] { tap_->set_open(true); };
  tasks_.spawn(tap_->keep_watching());

  auto api = http_->listen({.address = config_.api.host,
                            .port = config_.api.port,
                            .api = std::make_shared<const http::Api>(),
                            .access = config_.access,
                            .keys = keys_,
                            .tls = config_.api_tls});
  if (!api) return std::unexpected(at("listen-api", api.error()));
  api_port_ = *api;
  auto metrics = http_->listen({.address = config_.metrics.host,
                                .port = config_.metrics.port,
                                .api = std::make_shared<const http::Api>(metrics::metrics_routes()),
                                .access = {.public_rate = {}},
                                .keys = keys_,
                                .tls = config_.metrics_tls,
                                .public_without_keys = true});
  if (!metrics) return std::unexpected(at("listen-metrics", metrics.error()));
  metrics_port_ = *metrics;
  return {};
}

std::string EmbeddedServer::api_url() const {
  return url(config_.api_tls ? "https" : "http", config_.api, api_port_);
}

void EmbeddedServer::announce() {
  say(fmt::format(
      "fairlead is ready: api {}, workers {}, payloads {}, metrics {}/metrics, data {}", api_url(),
      url(config_.workers_tls ? "tls" : "nats", config_.workers, nats_->port()),
      url(config_.payloads_tls ? "rediss" : "redis", config_.payloads, resp_->port()),
      url(config_.metrics_tls ? "https" : "http", config_.metrics, metrics_port_), config_.data));
}

void EmbeddedServer::watch_files() {
  if (!config_.pools_file.empty()) {
    tasks_.spawn(
        watch_file(loop_, config_.pools_file, pools_mark_, [this] { return read_pools_again(); }));
  }
  if (!config_.key_source.file.empty()) {
    tasks_.spawn(watch_file(loop_, config_.key_source.file, keys_mark_,
                            [this] { return read_keys_again(); }));
  }
}

Task<void> EmbeddedServer::read_pools_again() {
  auto pools = read_pools(config_.pools_file);
  Result<void> taken;
  if (pools) {
    taken = co_await book_->replace_file(*pools);
  } else {
    taken = std::unexpected(pools.error());
  }
  if (taken) {
    log_.info("pools file reloaded", {{"file", config_.pools_file}});
  } else {
    log_.error("pools file refused, the pools stay as they were",
               {{"file", config_.pools_file}, {"error", taken.error().message}});
  }
}

Task<void> EmbeddedServer::read_keys_again() {
  const std::string& file = config_.key_source.file;
  auto keys = read_keys(config_.key_source);
  if (keys) {
    http_->set_keys(*keys);
    log_.info("API keys reloaded", {{"file", file}, {"keys", std::to_string((*keys)->size())}});
  } else {
    log_.error("API keys file refused, the keys stay as they were",
               {{"file", file}, {"error", keys.error().message}});
  }
  co_return;
}

void EmbeddedServer::drain() {
  loop_.post([this] {
    if (std::exchange(drain_wanted_, true)) return;
    if (started_) tasks_.spawn(stop());
  });
}

// Who calls first hears first: calls are answered while the scheduler still works. Then the
// scheduler lets go, and what it handed out leaves through the workers' listener. Results that
// come after that are kept by the bus for the next start.
Task<void> EmbeddedServer::stop() {
  log_.info("draining", {});
  auto done = [this](const char* part) {
    log_.write(Log::Level::kDebug, "drained", {{"part", part}});
  };
  co_await http_->stop(kDrainCalls);
  done("calls");
  co_await scheduler_->stop(kDrainScheduler);
  done("scheduler");
  co_await nats_->stop(kDrainListener);
  done("workers");
  co_await resp_->stop(kDrainListener);
  done("payloads");
  bus_->cancel();
  (void)co_await bus_->idle();
  log_.info("stopped", {});
  loop_.stop();
}

void EmbeddedServer::take_apart() {
  tasks_.drop();
  demo_.reset();
  nats_.reset();
  resp_.reset();
  tap_.reset();
  http_.reset();
  if (bus_) bus_->drop();
  backend_.reset();
  book_.reset();
  scheduler_.reset();
  bus_.reset();
  store_.reset();
}

}  // namespace fairlead::app
