#include "app/serve_config.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "app/text_file.h"
#include "base/go_duration.h"
#include "base/text.h"
#include "scheduler/fail_mode.h"

namespace fairlead::app {

namespace {

constexpr size_t kCaFileBytesMax = 1 << 20;
constexpr size_t kPolicyFileBytesMax = 1 << 20;

std::unexpected<Wrong> usage(std::string message) {
  return std::unexpected(Wrong{kUsage, std::move(message)});
}
std::unexpected<Wrong> failure(std::string message) {
  return std::unexpected(Wrong{kFailure, std::move(message)});
}

// The same user and database elsewhere: scheme://[user@]host[:port][/database].
std::string with_host(const std::string& url, const std::string& host) {
  const size_t scheme = url.find("://");
  if (scheme == url.npos) return url;
  const size_t begin = scheme + 3;
  const size_t path = std::min(url.find_first_of("/?", begin), url.size());
  const size_t user = url.rfind('@', path);
  const size_t from = user == url.npos || user < begin ? begin : user + 1;
  return url.substr(0, from) + host + url.substr(path);
}

std::expected<store::redis::RedisOptions, Wrong> redis_of(const Settings& settings,
                                                          Environment& environment) {
  using std::chrono::hours;
  using std::chrono::seconds;
  if (environment.is_production() && settings.value("redis-url").source == Source::kDefault) {
    return usage("REDIS_URL must be set in production");
  }
  store::redis::RedisOptions redis;
  redis.url = settings.text("redis-url");
  redis.tls = {.ca_file = environment.text("REDIS_TLS_CA"),
               .certificate_file = environment.text("REDIS_TLS_CERT"),
               .key_file = environment.text("REDIS_TLS_KEY"),
               .server_name = environment.text("REDIS_TLS_SERVER_NAME"),
               .insecure = environment.is_on("REDIS_TLS_INSECURE"),
               .only_1_3 = environment.is_production() ||
                           environment.text("CORDUM_TLS_MIN_VERSION") == "1.3"};
  const bool plain = redis.url.starts_with("redis:") || redis.url.starts_with("redis-sentinel:");
  if (environment.is_production() && plain) {
    environment.warn("REDIS_URL is reached without TLS: use rediss:// in production");
  }
  if (redis.tls.certificate_file.empty() != redis.tls.key_file.empty()) {
    return usage("REDIS_TLS_CERT and REDIS_TLS_KEY go together");
  }
  if (environment.is_production() && redis.tls.insecure) {
    return usage("REDIS_TLS_INSECURE is on: not in production");
  }
  if (const std::string nodes = environment.text("REDIS_CLUSTER_ADDRESSES"); !nodes.empty()) {
    // One of them is no cluster: it is where the server is.
    if (nodes.find(',') != nodes.npos) {
      return usage(
          "REDIS_CLUSTER_ADDRESSES names several: a Redis Cluster cannot keep what belongs "
          "together "
          "in one place; use one Redis, or one behind Sentinels (redis-sentinel://)");
    }
    redis.url = with_host(redis.url, nodes);
  }
  // A duration beats the same in whole units.
  environment.read("JOB_META_TTL_SECONDS", seconds(1), redis.ended_job_ttl);
  environment.read("JOB_META_TTL", redis.ended_job_ttl);
  environment.read("CORDUM_IDEMPOTENCY_TTL", redis.idempotency_ttl);
  environment.read("CORDUM_DLQ_ENTRY_TTL_DAYS", hours(24), redis.dead_letter_ttl);
  environment.read("SCHEDULER_DLQ_MAX_SIZE", redis.dead_letters_max);
  environment.read("REDIS_READ_TIMEOUT", redis.answer_wait);
  environment.read("REDIS_DIAL_TIMEOUT", redis.connect_wait);
  return redis;
}

std::expected<std::optional<gate::KernelOptions>, Wrong> kernel_of(const Settings& settings,
                                                                   Environment& environment) {
  if (!settings.has("safety-kernel")) {
    const char* missing = "no safety kernel is named (--safety-kernel, SAFETY_KERNEL_ADDR)";
    if (environment.is_production()) {
      return usage(fmt::format("{}: in production no job runs unjudged", missing));
    }
    environment.warn(fmt::format("{}: every job is allowed", missing));
    return std::nullopt;
  }
  gate::KernelOptions kernel;
  kernel.address = settings.text("safety-kernel");
  environment.read("CORDUM_GRPC_CLIENT_KEEPALIVE_TIME", kernel.keepalive_every);
  environment.read("CORDUM_GRPC_CLIENT_KEEPALIVE_TIMEOUT", kernel.keepalive_timeout);
  if (settings.has("safety-kernel-ca")) {
    auto ca = read_text_file(settings.text("safety-kernel-ca"), kCaFileBytesMax);
    if (!ca) return failure(fmt::format("safety kernel's authority {}", ca.error().message));
    if (ca->empty()) {
      return failure(
          fmt::format("safety kernel's authority {} is empty", settings.text("safety-kernel-ca")));
    }
    kernel.tls_ca = *std::move(ca);
  } else if (environment.is_production() || environment.is_on("SAFETY_KERNEL_TLS_REQUIRED")) {
    return usage("a safety kernel must be asked over TLS here: --safety-kernel-ca FILE");
  } else if (!environment.is_on("SAFETY_KERNEL_INSECURE")) {
    environment.warn(
        "the safety kernel is asked without TLS; SAFETY_KERNEL_INSECURE=true says that this is "
        "meant, --safety-kernel-ca FILE changes it");
  }
  return kernel;
}

// The environment beats the file, which beats "closed".
std::expected<bool, Wrong> fails_open(const Settings& settings) {
  const Value& mode = settings.value("safety-fail-mode");
  if (mode.source != Source::kDefault || !settings.has("safety-policy")) return mode.text == "open";
  auto text = read_text_file(settings.text("safety-policy"), kPolicyFileBytesMax);
  if (!text) return failure(fmt::format("safety policy {}", text.error().message));
  auto file = scheduler::parse_fail_mode(*text);
  if (!file)
    return failure(fmt::format("{}: {}", settings.text("safety-policy"), file.error().message));
  return *file == scheduler::FailMode::kOpen;
}

bool is_given(const Settings& settings, std::string_view name) {
  return settings.value(name).source != Source::kDefault;
}

std::expected<void, Wrong> take_timeouts(const Settings& settings, Environment& environment,
                                         ServeConfig& config) {
  if (!settings.has("timeouts")) {
    const scheduler::Timeouts& own = config.common.scheduler.timeouts;
    if (is_given(settings, "dispatch-timeout")) config.dispatch_timeout = own.dispatch;
    if (is_given(settings, "running-timeout")) config.running_timeout = own.running;
    return {};
  }
  auto file = read_timeouts(settings.text("timeouts"));
  if (!file && file.error().code != ErrorCode::kInvalid && !environment.is_production()) {
    environment.warn(file.error().message + ": the usual timeouts are in force");
    return {};
  }
  if (!file) return failure(file.error().message);
  config.common.scheduler.timeouts = file->timeouts;
  config.common.scheduler.topic_timeouts = file->topics;
  config.timeouts_file = *std::move(file);
  return {};
}

bool is_loopback(const HostPort& address) {
  return address.host.starts_with("127.") || address.host == "::1";
}

// What variables ask for and is not done here is told, and refused where a gate would have to be
// shut: the operator may rely on it.
std::expected<void, Wrong> check_missing_gates(Environment& environment) {
  struct Gate {
    const char* name;
    std::string_view usual;  // what it is when nothing is said
  };
  for (Gate gate : {Gate{"WORKER_ATTESTATION", "off"}, Gate{"CORDUM_SDK_HANDSHAKE", "off"},
                    Gate{"SCHEMA_ENFORCEMENT", "warn"}}) {
    const std::string value = lower(environment.text(gate.name));
    if (value == "enforce") {
      return usage(fmt::format(
          "{}=enforce cannot be kept: there is no such check here, and what it should stop would "
          "pass; take it away to start without it",
          gate.name));
    }
    if (value.empty() || value == "off" || value == gate.usual) continue;
    environment.warn(fmt::format("{} is set, and has no effect here", gate.name));
  }
  for (const char* name : {"WORKER_READINESS_REQUIRED", "OUTPUT_POLICY_ENABLED"}) {
    if (environment.is_on(name)) {
      environment.warn(fmt::format("{} is set, and has no effect here", name));
    }
  }
  // What only tunes how the Go services do it.
  std::vector<std::string> unused;
  for (const char* name :
       {"CORDUM_HEARTBEAT_MODE", "CORDUM_OUTPUT_META_TIMEOUT_MS", "OUTPUT_POLICY_FAIL_MODE",
        "REDIS_MIN_IDLE_CONNS", "REDIS_POOL_SIZE", "REDIS_WRITE_TIMEOUT", "WORKER_READINESS_TTL"}) {
    if (environment.is_set(name)) unused.emplace_back(name);
  }
  if (!unused.empty()) {
    environment.warn(fmt::format("variables that have no effect here: {}", join(unused, ", ")));
  }
  return {};
}

}  // namespace

std::expected<ServeConfig, Wrong> serve_config_of(const Settings& settings,
                                                  const Variables& variables) {
  auto common = config_of(settings);
  if (!common) return std::unexpected(std::move(common.error()));
  ServeConfig config{.common = *std::move(common)};
  for (std::string_view role : split(settings.text("role"), ',')) {
    if (trim(role) == "gateway") config.gateway = true;
  }
  Environment environment(variables);
  config.production = environment.is_production();
  if (environment.is_production() && !is_loopback(config.common.metrics) &&
      !environment.is_on("SCHEDULER_METRICS_PUBLIC")) {
    return usage(
        fmt::format("{} is {}: in production metrics are for this machine alone, unless "
                    "SCHEDULER_METRICS_PUBLIC is true",
                    settings.told("listen-metrics"), config.common.metrics.text()));
  }

  Variables of_nats = variables;
  of_nats.erase("NATS_URL");
  if (settings.value("nats-url").source != Source::kDefault) {
    of_nats["NATS_URL"] = settings.text("nats-url");
  }
  of_nats["NATS_USE_JETSTREAM"] = settings.text("nats-jetstream");
  auto nats = bus::nats::read_settings(of_nats);
  if (!nats) return usage(nats.error().message);
  config.nats = *std::move(nats);
  for (const std::string& warning : config.nats.warnings) environment.warn(warning);

  auto redis = redis_of(settings, environment);
  if (!redis) return std::unexpected(std::move(redis.error()));
  config.redis = *std::move(redis);
  config.redis.processed_ttl =
      std::max(limits::kProcessedTtl, config.nats.ack_wait + limits::kProcessedMargin);
  auto kernel = kernel_of(settings, environment);
  if (!kernel) return std::unexpected(std::move(kernel.error()));
  config.kernel = *std::move(kernel);

  scheduler::Settings& scheduler = config.common.scheduler;
  scheduler.ended_job_ttl = config.redis.ended_job_ttl;
  auto open = fails_open(settings);
  if (!open) return std::unexpected(std::move(open.error()));
  scheduler.safety_fail_open = *open;
  config.fail_mode_given = is_given(settings, "safety-fail-mode");
  scheduler.snapshot_every = parse_go_duration(settings.text("snapshot-every")).value();
  if (auto read = take_timeouts(settings, environment, config); !read) {
    return std::unexpected(std::move(read.error()));
  }
  // Jobs that a Go scheduler handed out are given as long as any of ours.
  Duration longest = scheduler.timeouts.running;
  for (const auto& [topic, timeouts] : scheduler.topic_timeouts) {
    longest = std::max(longest, timeouts.running);
  }
  config.redis.adopted_running_wait = longest;
  environment.read("REDIS_DATA_TTL_SECONDS", std::chrono::seconds(1), config.context_ttl);
  environment.read("REDIS_DATA_TTL", config.context_ttl);
  environment.read("SCHEDULER_CONFIG_RELOAD_INTERVAL", config.reload_every);
  if (auto gates = check_missing_gates(environment); !gates) {
    return std::unexpected(std::move(gates.error()));
  }
  std::ranges::copy(environment.warnings(), std::back_inserter(config.common.warnings));
  return config;
}

}  // namespace fairlead::app
