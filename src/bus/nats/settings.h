// How to reach NATS and what to ask of it: the settings of the Go services, under the same names of
// the environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"

namespace fairlead::bus::nats {

using namespace std::chrono_literals;

struct Tls {
  bool on = false;
  std::string ca;  // these three: paths of PEM files; empty: none
  std::string certificate;
  std::string key;
  std::string server_name;  // instead of the host of the URL; empty: that
  bool insecure = false;    // the server's certificate is not checked
  bool only_1_3 = false;    // otherwise TLS 1.2 is good enough
};

struct Settings {
  std::vector<std::string> servers;  // "nats://host:port" or "tls://host:port"
  // At most one way to say who we are: user and password, a token, or the seed of an nkey.
  std::string user;
  std::string password;
  std::string token;
  std::string nkey_seed;
  Tls tls;
  Duration ping_every = 30s;

  bool jetstream = false;
  // Of streams and consumers that are made because there are none.
  Duration max_age = 24h * 7;
  int replicas = 1;
  Duration ack_wait = 10min;
  int64_t max_ack_pending = 2048;

  // "http://host:8222", where the server tells what it is; empty: it is not asked.
  std::string monitor;

  // Numbers and times that made no sense and so are not used, for the log.
  std::vector<std::string> warnings{};
};

// REQUIRES of production (CORDUM_ENV or CORDUM_PRODUCTION): TLS, authentication and a checked
// certificate, each unless the variable that allows otherwise says so. The error names the variable
// that is wrong or missing.
Result<Settings> read_settings(const std::map<std::string, std::string>& environment);

}  // namespace fairlead::bus::nats
