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

namespace fairlead::app {

struct ApiKeySource {
  std::string single;
  std::string list;
  std::string file;
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
  edge::Credentials credentials;

  std::optional<http::TlsPaths> api_tls;
  std::optional<http::TlsPaths> metrics_tls;
  std::shared_ptr<const edge::TlsContext> workers_tls;
  std::shared_ptr<const edge::TlsContext> payloads_tls;

  scheduler::Settings scheduler;
};

// Reads what must be read before anything is opened: certificates.
std::expected<Config, Wrong> config_of(const Settings& settings);

struct LogStyle {
  bool json = false;
  Log::Level level = Log::Level::kInfo;
};
LogStyle log_style_of(const Settings& settings);

// The map of a pools file, or the built-in one for "". The error names the file.
Result<std::shared_ptr<const routing::PoolMap>> read_pools(const std::string& file);

// All keys of all sources. The error names the file where it is one.
Result<std::shared_ptr<const http::ApiKeys>> read_keys(const ApiKeySource& source);

}  // namespace fairlead::app
