#include "app/config.h"

#include <fmt/format.h>

#include "app/text_file.h"
#include "base/text.h"

namespace fairlead::app {

namespace {

constexpr size_t kPoolsFileBytesMax = 1 << 20;
constexpr size_t kKeysFileBytesMax = 8 << 20;

constexpr std::string_view kBuiltInPools = R"(
topics:
  job.default: default
pools:
  default: {}
)";

struct TlsNames {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// Certificate and key go together.
std::expected<std::optional<edge::TlsFiles>, Wrong> tls_files(const Settings& settings,
                                                              const std::string& listener) {
  const TlsNames names{listener + "-tls-cert", listener + "-tls-key", listener + "-tls-client-ca"};
  const bool client_ca = find_setting(names.client_ca) && settings.has(names.client_ca);
  if (!settings.has(names.certificate) && !settings.has(names.key) && !client_ca) {
    return std::nullopt;
  }
  for (const std::string& needed : {names.certificate, names.key}) {
    if (settings.has(needed)) continue;
    const std::string& given = settings.has(names.certificate) ? names.certificate
                               : settings.has(names.key)       ? names.key
                                                               : names.client_ca;
    return std::unexpected(Wrong{kUsage, fmt::format("{} is set without --{}: TLS needs both files",
                                                     settings.told(given), needed)});
  }
  return edge::TlsFiles{settings.text(names.certificate), settings.text(names.key),
                        client_ca ? settings.text(names.client_ca) : ""};
}

std::expected<std::shared_ptr<const edge::TlsContext>, Wrong> load_edge_tls(
    const Settings& settings, const std::string& listener) {
  auto files = tls_files(settings, listener);
  if (!files) return std::unexpected(std::move(files.error()));
  if (!*files) return nullptr;
  auto loaded = edge::TlsContext::load(**files);
  if (!loaded) return std::unexpected(Wrong{kFailure, loaded.error().message});
  return *std::move(loaded);
}

std::expected<std::optional<http::TlsPaths>, Wrong> http_tls(const Settings& settings,
                                                             const std::string& listener) {
  auto files = tls_files(settings, listener);
  if (!files) return std::unexpected(std::move(files.error()));
  if (!*files) return std::nullopt;
  return http::TlsPaths{(*files)->certificate, (*files)->key};
}

double number(const Settings& settings, std::string_view name) {
  return parse_number(settings.text(name)).value_or(0);
}

Duration seconds(const Settings& settings, std::string_view name) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(number(settings, name)));
}

}  // namespace

std::expected<Config, Wrong> config_of(const Settings& settings) {
  Config config;
  config.data = settings.text("data");
  config.pools_file = settings.text("pools");
  config.demo = parse_flag(settings.text("demo")).value_or(false);
  config.api = parse_host_port(settings.text("listen-api")).value();
  config.workers = parse_host_port(settings.text("listen-workers")).value();
  config.payloads = parse_host_port(settings.text("listen-payloads")).value();
  config.metrics = parse_host_port(settings.text("listen-metrics")).value();
  config.key_source = {settings.text("api-key"), settings.text("api-keys"),
                       settings.text("api-keys-file")};
  for (std::string_view origin : split(settings.text("allowed-origins"), ',')) {
    if (!trim(origin).empty()) config.access.allowed_origins.emplace_back(trim(origin));
  }
  config.access.rate = {number(settings, "rate-limit"), number(settings, "rate-burst")};
  config.access.public_rate = {number(settings, "public-rate-limit"),
                               number(settings, "public-rate-burst")};
  config.credentials = {settings.text("worker-token"), settings.text("worker-user"),
                        settings.text("worker-password")};
  config.scheduler.instance = settings.text("instance");
  config.scheduler.alone = true;
  config.scheduler.timeouts = {seconds(settings, "dispatch-timeout"),
                               seconds(settings, "running-timeout")};

  auto api_tls = http_tls(settings, "api");
  if (!api_tls) return std::unexpected(std::move(api_tls.error()));
  config.api_tls = *std::move(api_tls);
  auto metrics_tls = http_tls(settings, "metrics");
  if (!metrics_tls) return std::unexpected(std::move(metrics_tls.error()));
  config.metrics_tls = *std::move(metrics_tls);
  auto workers_tls = load_edge_tls(settings, "workers");
  if (!workers_tls) return std::unexpected(std::move(workers_tls.error()));
  config.workers_tls = *std::move(workers_tls);
  auto payloads_tls = load_edge_tls(settings, "payloads");
  if (!payloads_tls) return std::unexpected(std::move(payloads_tls.error()));
  config.payloads_tls = *std::move(payloads_tls);
  return config;
}

LogStyle log_style_of(const Settings& settings) {
  const std::string& level = settings.text("log-level");
  LogStyle style;
  style.json = settings.text("log-format") == "json";
  style.level = level == "debug"     ? Log::Level::kDebug
                : level == "info"    ? Log::Level::kInfo
                : level == "warning" ? Log::Level::kWarning
                                     : Log::Level::kError;
  return style;
}

Result<std::shared_ptr<const routing::PoolMap>> read_pools(const std::string& file) {
  std::string text(kBuiltInPools);
  if (!file.empty()) {
    auto read = read_text_file(file, kPoolsFileBytesMax);
    if (!read) {
      return fail(read.error().code, fmt::format("pools file {}", read.error().message));
    }
    text = *std::move(read);
  }
  auto map = routing::parse_pool_map(text);
  if (!map) {
    return fail(map.error().code, fmt::format("pools file {}: {}", file, map.error().message));
  }
  return std::make_shared<const routing::PoolMap>(*std::move(map));
}

Result<std::shared_ptr<const http::ApiKeys>> read_keys(const ApiKeySource& source) {
  http::ApiKeys keys;
  if (!source.single.empty()) {
    if (auto added = keys.add_single(source.single); !added) {
      return fail(ErrorCode::kInvalid, fmt::format("api-key: {}", added.error().message));
    }
  }
  if (auto added = keys.add_all(source.list); !added) {
    return fail(ErrorCode::kInvalid, fmt::format("api-keys: {}", added.error().message));
  }
  if (!source.file.empty()) {
    auto read = read_text_file(source.file, kKeysFileBytesMax);
    if (!read) {
      return fail(read.error().code, fmt::format("API keys file {}", read.error().message));
    }
    if (auto added = keys.add_all(*read); !added) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("API keys file {}: {}", source.file, added.error().message));
    }
    // An empty file is a mistake, and would leave the door open.
    if (keys.empty()) {
      return fail(ErrorCode::kInvalid, fmt::format("API keys file {}: has no key", source.file));
    }
  }
  return std::make_shared<const http::ApiKeys>(std::move(keys));
}

}  // namespace fairlead::app
