#include "app/front.h"

#include <fmt/format.h>

#include "app/file_watch.h"
#include "edge/metrics/metrics_api.h"

namespace fairlead::app {

namespace {

// Which setting an address came from, for who has to choose another.
Error at(const char* setting, const Error& error) {
  return {error.code,
          fmt::format("{} (--{} HOST:PORT chooses another address)", error.message, setting)};
}

Task<void> keep_sampling(Loop& loop, http::Backend& backend) {
  do {
    backend.rates.sample(backend.scheduler.metrics(), backend.clock.monotonic());
  } while (co_await loop.delay(limits::kRateSampleEvery));
}

std::string url(bool tls, const HostPort& address, uint16_t port) {
  return fmt::format("{}://{}", tls ? "https" : "http", HostPort{address.host, port}.text());
}

}  // namespace

Front::Front(const Config& config, Loop& loop, Log& log)
    : config_(config), loop_(loop), log_(log) {}

Result<void> Front::read_files(bool api) {
  pools_mark_ = files_mark({config_.pools_file});
  auto pools = read_pools(config_.pools_file);
  if (!pools) return std::unexpected(pools.error());
  pools_ = *std::move(pools);
  keys_mark_ = files_mark({config_.key_source.file});
  auto keys = read_keys(config_.key_source);
  if (!keys) return std::unexpected(keys.error());
  keys_ = *std::move(keys);
  if (api && keys_->empty() && !config_.access.allowed_origins.empty()) {
    return fail(
        ErrorCode::kInvalid,
        "allowed-origins needs API keys: without them only pages of the server's own origin "
        "are served");
  }
  return {};
}

Result<void> Front::listen(http::Backend& backend, bool api) {
  backend_ = &backend;
  if (api) {
    http_ = std::make_unique<http::Server>(
        loop_, backend,
        http::ServerSettings{.body_bytes_max = config_.body_bytes_max,
                             .job_bytes_max = config_.job_bytes_max});
    auto port = listen_api(backend);
    if (!port) return std::unexpected(at("listen-api", port.error()));
    api_port_ = *port;
  }
  probes_ = std::make_unique<http::Server>(loop_, backend);
  auto metrics =
      probes_->listen({.address = config_.metrics.host,
                       .port = config_.metrics.port,
                       .api = std::make_shared<const http::Api>(metrics::metrics_routes()),
                       .access = {.public_rate = {}},
                       .keys = keys_,
                       .tls = context_of(config_.metrics_tls),
                       .public_without_keys = true});
  if (!metrics) return std::unexpected(at("listen-metrics", metrics.error()));
  metrics_port_ = *metrics;
  return {};
}

Result<uint16_t> Front::listen_api(http::Backend& backend) {
  tap_ = std::make_unique<http::EventTap>(
      backend, http::EventTap::Outlet{[this](std::vector<http::TappedEvent> events) {
                                        http_->publish(std::move(events));
                                      },
                                      [this] { http_->forget_events(); }});
  backend.stream_readers = [this] { return http_->stream_readers(); };
  backend.stream_opening = [this] { return tap_->expect_reader(); };
  tasks_.spawn(tap_->keep_watching());
  tasks_.spawn(keep_sampling(loop_, backend));
  return http_->listen({.address = config_.api.host,
                        .port = config_.api.port,
                        .api = std::make_shared<const http::Api>(),
                        .access = config_.access,
                        .keys = keys_,
                        .tls = context_of(config_.api_tls)});
}

void Front::begin_watching(TakePools take_pools) {
  take_pools_ = std::move(take_pools);
  if (!config_.pools_file.empty()) {
    tasks_.spawn(watch_files(loop_, {config_.pools_file}, pools_mark_,
                             [this] { return read_pools_again(); }));
  }
  if (!config_.key_source.file.empty()) {
    tasks_.spawn(watch_files(loop_, {config_.key_source.file}, keys_mark_,
                             [this] { return read_keys_again(); }));
  }
  if (http_) {
    watch_certificate("api", config_.api_tls, [this](Tls tls) { http_->set_tls(api_port_, tls); });
  }
  watch_certificate("metrics", config_.metrics_tls,
                    [this](Tls tls) { probes_->set_tls(metrics_port_, tls); });
}

void Front::watch_certificate(const char* listener, const std::optional<ListenerTls>& tls,
                              std::function<void(Tls)> use) {
  if (!tls) return;
  // Half-written files do not load: the old certificate serves until they do.
  auto read_again = [this, listener, files = tls->files, use = std::move(use)]() -> Task<void> {
    auto loaded = edge::TlsContext::load(files);
    if (loaded) {
      use(*loaded);
      log_.info("certificate reloaded", {{"listener", listener}, {"file", files.certificate}});
    } else {
      log_.error("certificate refused, the old one stays",
                 {{"listener", listener}, {"error", loaded.error().message}});
    }
    co_return;
  };
  tasks_.spawn(watch_files(loop_, tls->files.names(), tls->mark, std::move(read_again)));
}

Task<void> Front::stop(Duration patience) {
  backend_->stopping = true;
  if (http_) co_await http_->stop(patience);
}

void Front::close() {
  tasks_.drop();
  tap_.reset();
  http_.reset();
  probes_.reset();
}

std::string Front::api_url() const {
  return url(config_.api_tls.has_value(), config_.api, api_port_);
}

std::string Front::metrics_url() const {
  return url(config_.metrics_tls.has_value(), config_.metrics, metrics_port_) + "/metrics";
}

Task<void> Front::read_pools_again() {
  auto pools = read_pools(config_.pools_file);
  Result<void> taken;
  if (pools) {
    taken = co_await take_pools_(*pools);
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

Task<void> Front::read_keys_again() {
  const std::string& file = config_.key_source.file;
  auto keys = read_keys(config_.key_source);
  if (keys) {
    for (http::Server* server : {http_.get(), probes_.get()}) {
      if (server) server->set_keys(*keys);
    }
    log_.info("API keys reloaded", {{"file", file}, {"keys", std::to_string((*keys)->size())}});
  } else {
    log_.error("API keys file refused, the keys stay as they were",
               {{"file", file}, {"error", keys.error().message}});
  }
  co_return;
}

}  // namespace fairlead::app
