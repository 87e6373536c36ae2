#include "app/setting.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "app/value_checks.h"

namespace fairlead::app {

namespace {

std::string replaced(std::string_view text, char from, char to) {
  std::string out(text);
  std::ranges::replace(out, from, to);
  return out;
}

constexpr Setting::Care kOpen = Setting::Care::kNone;
constexpr Setting::Care kHidden = Setting::Care::kSecret;

constexpr auto kSettings = std::to_array<Setting>({
    {"config", "FILE", "", "YAML file with any of these settings, '_' for '-'", any_text, "",
     Setting::Care::kNoKey},
    {"role", "LIST", "scheduler", "what this process does: scheduler, or scheduler,gateway",
     is_role_list, "", kOpen, Verb::kServe},
    {"nats-url", "URL", "nats://localhost:4222", "the NATS servers, tls:// for TLS", not_empty,
     "NATS_URL", kHidden, Verb::kServe},
    {"nats-jetstream", "", "false", "keep submits, results and dispatches in JetStream", is_flag,
     "NATS_USE_JETSTREAM", kOpen, Verb::kServe},
    {"redis-url", "URL", "redis://localhost:6379",
     "the Redis, rediss:// for TLS, redis-sentinel:// for its Sentinels", not_empty, "REDIS_URL",
     kHidden, Verb::kServe},
    {"safety-kernel", "HOST:PORT", "", "a policy service to ask before each dispatch (gRPC)",
     any_text, "SAFETY_KERNEL_ADDR", kOpen, Verb::kServe},
    {"safety-kernel-ca", "FILE", "", "its certificate authority (PEM): it is asked over TLS",
     any_text, "SAFETY_KERNEL_TLS_CA", kOpen, Verb::kServe},
    {"safety-policy", "FILE", "", "safety.yaml, for the fail mode where nothing else says it",
     any_text, "SAFETY_POLICY_PATH", kOpen, Verb::kServe},
    {"snapshot-every", "DURATION", "5s", "how often the workers are written down for the others",
     is_duration, "WORKER_SNAPSHOT_INTERVAL", kOpen, Verb::kServe},
    {"data", "FOLDER", "./fairlead-data", "where jobs are kept; made if it is missing", not_empty,
     "", kOpen, Verb::kUp},
    {"pools", "FILE", "",
     "topics and pools, read again when it is edited; without it job.default goes to pool default",
     any_text, "POOL_CONFIG_PATH"},
    {"demo", "", "false", "add an echo worker in pool default and run a few jobs", is_flag, "",
     kOpen, Verb::kUp},

    {"listen-api", "HOST:PORT", "127.0.0.1:8081", "HTTP API", is_host_port},
    {"listen-workers", "HOST:PORT", "127.0.0.1:4222", "workers (NATS protocol)", is_host_port, "",
     kOpen, Verb::kUp},
    {"listen-payloads", "HOST:PORT", "127.0.0.1:6379", "payloads (Redis protocol)", is_host_port,
     "", kOpen, Verb::kUp},
    {"listen-metrics", "HOST:PORT", "127.0.0.1:2112", "metrics (Prometheus)", is_host_port,
     "SCHEDULER_METRICS_ADDR"},

    {"api-key", "KEY", "", "one key for the API, an admin's of every tenant", any_text,
     "CORDUM_API_KEY", kHidden},
    {"api-keys", "LIST", "",
     "keys for the API, each bound to a tenant: tenant:key:role,… or JSON; topics and pools, which "
     "all tenants share, are changed with api-key, or with an admin's that has allow_cross_tenant",
     any_text, "CORDUM_API_KEYS", kHidden},
    {"api-keys-file", "FILE", "", "the same in a file, read again when it is edited", any_text,
     "CORDUM_API_KEYS_PATH"},
    {"allowed-origins", "LIST", "",
     "origins of web pages that may call the API, or *; without it those of this machine; needs "
     "keys",
     is_origin_list, "CORDUM_ALLOWED_ORIGINS"},
    {"rate-limit", "N", "500",
     "calls a second for each API key, or, once it is set, for each address where there are no "
     "keys; 0: no limit",
     is_rate, "API_RATE_LIMIT_RPS"},
    {"rate-burst", "N", "1000", "calls at once, likewise", is_burst, "API_RATE_LIMIT_BURST"},
    {"public-rate-limit", "N", "20",
     "calls a second for each address without a key, or, once it is set, for probes where there "
     "are no keys; 0: no limit",
     is_rate, "API_PUBLIC_RATE_LIMIT_RPS"},
    {"public-rate-burst", "N", "40", "calls at once, likewise", is_burst,
     "API_PUBLIC_RATE_LIMIT_BURST"},
    {"max-body", "BYTES", "2097152", "the largest body of a call", is_body_size,
     "GATEWAY_MAX_JSON_BODY_BYTES"},
    {"max-job", "BYTES", "2097152", "the largest body that submits a job", is_body_size,
     "GATEWAY_MAX_JOB_PAYLOAD_BYTES"},
    {"api-tls-cert", "FILE", "", "certificate of the API (PEM): it speaks HTTPS", any_text,
     "GATEWAY_HTTP_TLS_CERT"},
    {"api-tls-key", "FILE", "", "its key", any_text, "GATEWAY_HTTP_TLS_KEY"},

    {"worker-token", "TOKEN", "", "workers must show it, to both of their listeners", any_text, "",
     kHidden, Verb::kUp},
    {"worker-user", "NAME", "", "or this user", any_text, "", kOpen, Verb::kUp},
    {"worker-password", "TEXT", "", "and password", any_text, "", kHidden, Verb::kUp},
    {"workers-tls-cert", "FILE", "", "certificate of the workers' listener (PEM)", any_text, "",
     kOpen, Verb::kUp},
    {"workers-tls-key", "FILE", "", "its key", any_text, "", kOpen, Verb::kUp},
    {"workers-tls-client-ca", "FILE", "", "workers must show a certificate signed by it", any_text,
     "", kOpen, Verb::kUp},
    {"payloads-tls-cert", "FILE", "", "certificate of the payload listener (PEM)", any_text, "",
     kOpen, Verb::kUp},
    {"payloads-tls-key", "FILE", "", "its key", any_text, "", kOpen, Verb::kUp},
    {"payloads-tls-client-ca", "FILE", "", "clients must show a certificate signed by it", any_text,
     "", kOpen, Verb::kUp},
    {"metrics-tls-cert", "FILE", "", "certificate of the metrics listener (PEM)", any_text},
    {"metrics-tls-key", "FILE", "", "its key", any_text},

    {"keep-jobs", "DURATION", "168h", "how long ended jobs are kept", is_duration, "JOB_META_TTL",
     kOpen, Verb::kUp},
    {"keep-keys", "DURATION", "2160h", "how long an idempotency key is held", is_duration,
     "CORDUM_IDEMPOTENCY_TTL", kOpen, Verb::kUp},
    {"keep-dead-letters", "DAYS", "30", "how long dead letters are kept", is_days,
     "CORDUM_DLQ_ENTRY_TTL_DAYS", kOpen, Verb::kUp},
    {"max-dead-letters", "N", "10000", "how many dead letters are kept; the oldest go first",
     is_entry_count, "SCHEDULER_DLQ_MAX_SIZE", kOpen, Verb::kUp},
    {"dispatch-timeout", "SECONDS", "300", "how long a job may be on its way to a worker",
     is_seconds},
    {"running-timeout", "SECONDS", "900", "how long a worker may run a job that sets no deadline",
     is_seconds},
    {"timeouts", "FILE", "", "how long jobs may take, by topic, instead of the two above", any_text,
     "TIMEOUT_CONFIG_PATH"},
    {"stale-picks", "N", "3",
     "workers that are picked and turn out to be gone before a job waits for others", is_count},
    {"safety-fail-mode", "MODE", "closed",
     "what becomes of jobs while policy cannot be asked: closed, they wait; open, they run",
     any_text, "POLICY_CHECK_FAIL_MODE", kOpen, Verb::kServe},
    {"instance", "NAME", "",
     "names this server in metrics and leases; without it the name of this machine", is_instance,
     "CORDUM_INSTANCE_ID", kOpen, std::nullopt, instance_of_this_host},
    {"log-format", "FORMAT", "text", "of the log on standard error: text or json", is_log_format,
     "CORDUM_LOG_FORMAT"},
    {"log-level", "LEVEL", "info", "the least that is logged: debug, info, warning or error",
     is_log_level, "CORDUM_LOG_LEVEL"},
});

}  // namespace

std::string Setting::flag() const {
  return "--" + std::string(name);
}

std::string Setting::variable() const {
  std::string out = "FAIRLEAD_" + replaced(name, '-', '_');
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::string Setting::key() const {
  return replaced(name, '-', '_');
}

std::vector<const Setting*> settings_of(Verb verb) {
  std::vector<const Setting*> all;
  for (const Setting& setting : kSettings) {
    if (setting.is_of(verb)) all.push_back(&setting);
  }
  return all;
}

const Setting* find_setting(Verb verb, std::string_view name) {
  for (const Setting& setting : kSettings) {
    if (setting.name == name && setting.is_of(verb)) return &setting;
  }
  return nullptr;
}

}  // namespace fairlead::app
