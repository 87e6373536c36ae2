#include "app/embedded_server.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/build_info.h"
#include "app/drain.h"

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

EmbeddedServer::EmbeddedServer(Config config, Log& log)
    : config_(std::move(config)), log_(log), front_(config_, loop_, log_) {}

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
  for (const std::string& warning : config_.warnings) log_.warning(warning, {});
  if (auto read = front_.read_files(true); !read) return read;
  store::RocksOptions options;
  options.path = config_.data;
  options.ended_job_ttl = config_.retention.ended_jobs;
  options.idempotency_ttl = config_.retention.idempotency_keys;
  options.dead_letter_ttl = config_.retention.dead_letters;
  options.dead_letters_max = config_.retention.dead_letters_max;
  auto opened = store::RocksStore::open(options, loop_, clock_);
  if (!opened) return std::unexpected(opened.error());
  store_ = *std::move(opened);
  bus_ = std::make_unique<bus::LocalBus>(loop_, clock_, *store_);
  scheduler_ = std::make_unique<scheduler::Scheduler>(
      scheduler::Plugs{loop_, clock_, random_, *store_, *bus_, gate_, log_}, config_.scheduler,
      front_.pools());
  bus_->on_terminated([this](bus::Delivery delivery, std::string reason) {
    return scheduler_->bury(std::move(delivery), std::move(reason));
  });
  book_ = std::make_unique<http::PoolBook>(
      loop_, *store_, front_.pools(), [this](auto map) { scheduler_->set_pools(std::move(map)); });
  backend_ = std::make_unique<http::Backend>(http::Backend{loop_, clock_, random_, *store_, *bus_,
                                                           log_, *scheduler_, *book_, build_info(),
                                                           clock_.monotonic()});
  // Jobs may wait for longer than ended ones are kept.
  backend_->context_ttl = std::max(config_.retention.ended_jobs, limits::kEndedJobTtl);
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
  begin_watching();
  if (drain_wanted_) co_return co_await stop();
  if (config_.demo) {
    demo_.emplace(*backend_,
                  Demo::Place{front_.api_url(), workers_url(), payloads_url(), config_.data,
                              front_.has_keys(), config_.credentials},
                  say);
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
  if (auto listening = front_.listen(*backend_, true); !listening) return listening;
  nats_.emplace(edge::NatsListener::Plugs{loop_, clock_, random_, *bus_, log_},
                edge::NatsOptions{.address = config_.workers.host,
                                  .port = config_.workers.port,
                                  .credentials = config_.credentials,
                                  .tls = context_of(config_.workers_tls)});
  if (auto started = nats_->start(); !started) {
    return std::unexpected(at("listen-workers", started.error()));
  }
  resp_.emplace(edge::RespListener::Plugs{loop_, clock_, *store_},
                edge::RespOptions{.address = config_.payloads.host,
                                  .port = config_.payloads.port,
                                  .credentials = config_.credentials,
                                  .tls = context_of(config_.payloads_tls),
                                  .kept = backend_->context_ttl});
  if (auto started = resp_->start(); !started) {
    return std::unexpected(at("listen-payloads", started.error()));
  }
  return {};
}

void EmbeddedServer::announce() {
  say(fmt::format("fairlead is ready: api {}, workers {}, payloads {}, metrics {}, data {}",
                  front_.api_url(), workers_url(), payloads_url(), front_.metrics_url(),
                  config_.data));
}

std::string EmbeddedServer::workers_url() const {
  return url(config_.workers_tls ? "tls" : "nats", config_.workers, nats_->port());
}

std::string EmbeddedServer::payloads_url() const {
  return url(config_.payloads_tls ? "rediss" : "redis", config_.payloads, resp_->port());
}

void EmbeddedServer::begin_watching() {
  using Tls = Front::Tls;
  front_.begin_watching([this](auto pools) { return book_->replace_file(std::move(pools)); });
  front_.watch_certificate("workers", config_.workers_tls,
                           [this](Tls tls) { nats_->set_tls(tls); });
  front_.watch_certificate("payloads", config_.payloads_tls,
                           [this](Tls tls) { resp_->set_tls(tls); });
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
  co_await front_.stop(kDrainCalls);
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
  front_.close();
  if (bus_) bus_->drop();
  backend_.reset();
  book_.reset();
  scheduler_.reset();
  bus_.reset();
  store_.reset();
}

}  // namespace fairlead::app
