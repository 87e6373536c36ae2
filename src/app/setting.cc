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

constexpr auto kSettings = std::to_array<Setting>({
    {"config", "FILE", "", "YAML file with any of these settings, '_' for '-'", any_text, "",
     Setting::Care::kNoKey},
    {"data", "FOLDER", "./fairlead-data", "where jobs are kept; made if it is missing", not_empty},
    {"pools", "FILE", "",
     "topics and pools, read again when it is edited; without it job.default goes to pool default",
     any_text},
    {"demo", "", "false", "add an echo worker in pool default and run a few jobs", is_flag},

    {"listen-api", "HOST:PORT", "127.0.0.1:8081", "HTTP API", is_host_port},
    {"listen-workers", "HOST:PORT", "127.0.0.1:4222", "workers (NATS protocol)", is_host_port},
    {"listen-payloads", "HOST:PORT", "127.0.0.1:6379", "payloads (Redis protocol)", is_host_port},
    {"listen-metrics", "HOST:PORT", "127.0.0.1:2112", "metrics (Prometheus)", is_host_port},

    {"api-key", "KEY", "", "one key for the API, an admin's of every tenant", any_text,
     "CORDUM_API_KEY", Setting::Care::kSecret},
    {"api-keys", "LIST", "", "keys for the API: tenant:key:role,… or JSON", any_text,
     "CORDUM_API_KEYS", Setting::Care::kSecret},
    {"api-keys-file", "FILE", "", "the same in a file, read again when it is edited", any_text,
     "CORDUM_API_KEYS_PATH"},
    {"allowed-origins", "LIST", "",
     "origins of web pages that may call the API, or *; without it those of this machine",
     is_origin_list, "CORDUM_ALLOWED_ORIGINS"},
    {"rate-limit", "N", "500", "calls a second for each API key; 0: no limit", is_rate},
    {"rate-burst", "N", "1000", "calls at once for each API key", is_rate},
    {"public-rate-limit", "N", "20", "calls a second for each address without a key; 0: no limit",
     is_rate},
    {"public-rate-burst", "N", "40", "calls at once for each address without a key", is_rate},
    {"api-tls-cert", "FILE", "", "certificate of the API (PEM): it speaks HTTPS", any_text},
    {"api-tls-key", "FILE", "", "its key", any_text},

    {"worker-token", "TOKEN", "", "workers must show it, to both of their listeners", any_text, "",
     Setting::Care::kSecret},
    {"worker-user", "NAME", "", "or this user", any_text},
    {"worker-password", "TEXT", "", "and password", any_text, "", Setting::Care::kSecret},
    {"workers-tls-cert", "FILE", "", "certificate of the workers' listener (PEM)", any_text},
    {"workers-tls-key", "FILE", "", "its key", any_text},
    {"workers-tls-client-ca", "FILE", "", "workers must show a certificate signed by it", any_text},
    {"payloads-tls-cert", "FILE", "", "certificate of the payload listener (PEM)", any_text},
    {"payloads-tls-key", "FILE", "", "its key", any_text},
    {"payloads-tls-client-ca", "FILE", "", "clients must show a certificate signed by it",
     any_text},
    {"metrics-tls-cert", "FILE", "", "certificate of the metrics listener (PEM)", any_text},
    {"metrics-tls-key", "FILE", "", "its key", any_text},

    {"dispatch-timeout", "SECONDS", "300", "how long a job may be on its way to a worker",
     is_seconds},
    {"running-timeout", "SECONDS", "900", "how long a worker may run a job that sets no deadline",
     is_seconds},
    {"instance", "NAME", "fairlead", "names this server in metrics and leases", is_instance},
    {"log-format", "FORMAT", "text", "of the log on standard error: text or json", is_log_format},
    {"log-level", "LEVEL", "info", "the least that is logged: debug, info, warning or error",
     is_log_level},
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

std::span<const Setting> all_settings() {
  return kSettings;
}

const Setting* find_setting(std::string_view name) {
  auto found = std::ranges::find(kSettings, name, &Setting::name);
  return found == kSettings.end() ? nullptr : &*found;
}

}  // namespace fairlead::app
