#include "app/config.h"

#include <fmt/format.h>

#include "app/file_watch.h"
#include "app/text_file.h"
#include "base/go_duration.h"
#include "base/text.h"

namespace fairlead::app {

namespace {

constexpr size_t kPoolsFileBytesMax = 1 << 20;
constexpr size_t kKeysFileBytesMax = 8 << 20;
constexpr size_t kTimeoutsFileBytesMax = 1 << 20;

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
  const bool client_ca =
      find_setting(settings.verb(), names.client_ca) && settings.has(names.client_ca);
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

std::expected<std::optional<ListenerTls>, Wrong> load_tls(const Settings& settings,
                                                          const std::string& listener) {
  auto files = tls_files(settings, listener);
  if (!files) return std::unexpected(std::move(files.error()));
  if (!*files) return std::nullopt;
  // First, so that a change while they are read is noticed later.
  std::string mark = files_mark((*files)->names());
  auto loaded = edge::TlsContext::load(**files);
  if (!loaded) {
    return std::unexpected(
        Wrong{kFailure, fmt::format("TLS of {}: {}", listener, loaded.error().message)});
  }
  return ListenerTls{**std::move(files), std::move(mark), *std::move(loaded)};
}

double number(const Settings& settings, std::string_view name) {
  return parse_number(settings.text(name)).value_or(0);
}

size_t count(const Settings& settings, std::string_view name) {
  return std::stoul(settings.text(name));
}

// Rates of calls. Where there are no keys nobody is held up, unless it was asked for.
http::AccessSettings access_of(const Settings& settings) {
  http::AccessSettings access;
  for (std::string_view origin : split(settings.text("allowed-origins"), ',')) {
    if (!trim(origin).empty()) access.allowed_origins.emplace_back(trim(origin));
  }
  access.rate = {number(settings, "rate-limit"), number(settings, "rate-burst")};
  access.public_rate = {number(settings, "public-rate-limit"),
                        number(settings, "public-rate-burst")};
  auto asked_for = [&](std::string_view limit, std::string_view burst) {
    return settings.value(limit).source != Source::kDefault ||
           settings.value(burst).source != Source::kDefault;
  };
  if (asked_for("rate-limit", "rate-burst")) access.open_rate = access.rate;
  if (asked_for("public-rate-limit", "public-rate-burst")) {
    access.open_public_rate = access.public_rate;
  }
  return access;
}

Duration seconds(const Settings& settings, std::string_view name) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(number(settings, name)));
}

std::expected<void, Wrong> load_all_tls(
    const Settings& settings,
    std::initializer_list<std::pair<const char*, std::optional<ListenerTls>*>> listeners) {
  for (auto [listener, into] : listeners) {
    auto tls = load_tls(settings, listener);
    if (!tls) return std::unexpected(std::move(tls.error()));
    *into = *std::move(tls);
  }
  return {};
}

std::expected<scheduler::Settings, Wrong> scheduler_of(const Settings& settings) {
  scheduler::Settings scheduler;
  scheduler.instance = settings.text("instance");
  scheduler.timeouts = {seconds(settings, "dispatch-timeout"),
                        seconds(settings, "running-timeout")};
  scheduler.stale_picks_max = static_cast<int>(number(settings, "stale-picks"));
  // A replica of a cluster does without a file that is missing.
  if (!settings.has("timeouts") || settings.verb() != Verb::kUp) return scheduler;

  auto file = read_timeouts(settings.text("timeouts"));
  if (!file) return std::unexpected(Wrong{kFailure, file.error().message});
  scheduler.timeouts = file->timeouts;
  scheduler.topic_timeouts = std::move(file->topics);
  return scheduler;
}

// What only a server of one process has.
std::expected<void, Wrong> read_embedded(const Settings& settings, Config& config) {
  config.data = settings.text("data");
  config.demo = parse_flag(settings.text("demo")).value_or(false);
  config.workers = parse_host_port(settings.text("listen-workers")).value();
  config.payloads = parse_host_port(settings.text("listen-payloads")).value();
  config.credentials = {settings.text("worker-token"), settings.text("worker-user"),
                        settings.text("worker-password")};
  config.scheduler.alone = true;
  config.retention = {.ended_jobs = parse_go_duration(settings.text("keep-jobs")).value(),
                      .idempotency_keys = parse_go_duration(settings.text("keep-keys")).value(),
                      .dead_letters = std::chrono::hours(24) * count(settings, "keep-dead-letters"),
                      .dead_letters_max = count(settings, "max-dead-letters")};
  return load_all_tls(settings,
                      {{"workers", &config.workers_tls}, {"payloads", &config.payloads_tls}});
}

}  // namespace

std::expected<Config, Wrong> config_of(const Settings& settings) {
  Config config;
  config.warnings = settings.warnings();
  config.pools_file = settings.text("pools");
  config.api = parse_host_port(settings.text("listen-api")).value();
  config.metrics = parse_host_port(settings.text("listen-metrics")).value();
  config.key_source = {settings.text("api-key"), settings.text("api-keys"),
                       settings.text("api-keys-file")};
  config.access = access_of(settings);
  config.body_bytes_max = count(settings, "max-body");
  config.job_bytes_max = count(settings, "max-job");
  auto scheduler = scheduler_of(settings);
  if (!scheduler) return std::unexpected(std::move(scheduler.error()));
  config.scheduler = *std::move(scheduler);

  if (auto loaded =
          load_all_tls(settings, {{"api", &config.api_tls}, {"metrics", &config.metrics_tls}});
      !loaded) {
    return std::unexpected(std::move(loaded.error()));
  }
  if (settings.verb() == Verb::kUp) {
    auto embedded = read_embedded(settings, config);
    if (!embedded) return std::unexpected(std::move(embedded.error()));
  }
  return config;
}

std::expected<Settings, Wrong> in_force(Settings settings) {
  if (!settings.has("timeouts")) return settings;
  const std::string path = settings.text("timeouts");
  auto file = read_timeouts(path);
  const bool missing = !file && file.error().code != ErrorCode::kInvalid;
  // A replica of a cluster does without.
  if (missing && settings.verb() == Verb::kServe) return settings;
  if (!file) return std::unexpected(Wrong{kFailure, file.error().message});
  auto set = [&](std::string_view name, Duration time) {
    settings.set(name, {fmt::format("{}", std::chrono::duration<double>(time).count()),
                        Source::kFile, path});
  };
  set("dispatch-timeout", file->timeouts.dispatch);
  set("running-timeout", file->timeouts.running);
  return settings;
}

LogStyle log_style_of(const Settings& settings) {
  const std::string level = lower(settings.text("log-level"));
  LogStyle style;
  style.json = lower(settings.text("log-format")) == "json";
  style.level = level == "debug"   ? Log::Level::kDebug
                : level == "info"  ? Log::Level::kInfo
                : level == "error" ? Log::Level::kError
                                   : Log::Level::kWarning;
  return style;
}

Result<scheduler::TimeoutsFile> read_timeouts(const std::string& file) {
  auto text = read_text_file(file, kTimeoutsFileBytesMax);
  if (!text) return fail(ErrorCode::kUnavailable, "timeouts file " + text.error().message);
  auto parsed = scheduler::parse_timeouts(*text);
  if (!parsed) return fail(ErrorCode::kInvalid, file + ": " + parsed.error().message);
  return parsed;
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
