// Settings as the parts of the server want them: typed, with the files they name read once.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/settings.h"
#include "app/value_checks.h"
#include "base/log.h"
#include "edge/http/server.h"
#include "edge/net/credentials.h"
#include "edge/net/tls.h"
#include "routing/pool_map.h"
#include "scheduler/settings.h"
#include "scheduler/timeouts_file.h"

namespace fairlead::app {

struct ApiKeySource {
  std::string single;
  std::string list;
  std::string file;
};

// Of one listener: what was read, and from where.
struct ListenerTls {
  edge::TlsFiles files;
  std::string mark;  // of the files as they were read
  std::shared_ptr<const edge::TlsContext> context;
};
inline std::shared_ptr<const edge::TlsContext> context_of(const std::optional<ListenerTls>& tls) {
  return tls ? tls->context : nullptr;
}

// What a server of one process keeps of what is over.
struct Retention {
  Duration ended_jobs = limits::kEndedJobTtl;
  Duration idempotency_keys = limits::kIdempotencyTtl;
  Duration dead_letters = limits::kDlqEntryTtl;
  size_t dead_letters_max = limits::kDlqEntriesMax;
};

struct Config {
  std::string data;
  std::string pools_file;  // "": the built-in map
  bool demo = false;

  HostPort api;
  HostPort workers;
  HostPort payloads;
  HostPort metrics;

  ApiKeySource key_source;
  http::AccessSettings access;
  size_t body_bytes_max = limits::kHttpBodyBytesMax;
  size_t job_bytes_max = limits::kHttpBodyBytesMax;
  Retention retention;
  edge::Credentials credentials;

  std::optional<ListenerTls> api_tls;
  std::optional<ListenerTls> workers_tls;
  std::optional<ListenerTls> payloads_tls;
  std::optional<ListenerTls> metrics_tls;

  scheduler::Settings scheduler;

  // What was asked for and is not done as asked, for the log.
  std::vector<std::string> warnings;
};

// Reads what must be read before anything is opened: certificates and timeouts.
std::expected<Config, Wrong> config_of(const Settings& settings);

// The settings with the times of a timeouts file, where one is named, as their values.
std::expected<Settings, Wrong> in_force(Settings settings);

struct LogStyle {
  bool json = false;
  Log::Level level = Log::Level::kInfo;
};
LogStyle log_style_of(const Settings& settings);

// The map of a pools file, or the built-in one for "". The error names the file.
Result<std::shared_ptr<const routing::PoolMap>> read_pools(const std::string& file);

// The error names the file; it is kInvalid when the file can be read.
Result<scheduler::TimeoutsFile> read_timeouts(const std::string& file);

// All keys of all sources. The error names the file where it is one.
Result<std::shared_ptr<const http::ApiKeys>> read_keys(const ApiKeySource& source);

}  // namespace fairlead::app
