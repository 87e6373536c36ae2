#include "bus/nats/settings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/go_duration.h"
#include "base/percent.h"
#include "base/text.h"

namespace fairlead::bus::nats {

namespace {

constexpr std::string_view kDefaultUrl = "nats://localhost:4222";
constexpr std::string_view kPlainScheme = "nats://";
constexpr std::string_view kTlsScheme = "tls://";
constexpr int kReplicasMax = 5;  // of a JetStream stream

class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& variables)
      : variables_(variables) {}

  std::string text(const std::string& name) const {
    auto found = variables_.find(name);
    return found == variables_.end() ? std::string() : std::string(trim(found->second));
  }
  bool is_on(const std::string& name) const {
    const std::string value = lower(text(name));
    return value == "1" || value == "true" || value == "yes" || value == "y" || value == "on";
  }
  bool production() const {
    const std::string name = lower(text("CORDUM_ENV"));
    return name == "production" || name == "prod" || is_on("CORDUM_PRODUCTION");
  }

  // What makes no sense counts as not set (CFG-2).
  void read(const std::string& name, Duration& into, Settings& settings) const {
    const std::string value = text(name);
    if (value.empty()) return;
    Result<Duration> duration = parse_go_duration(value);
    if (duration && *duration > Duration(0)) {
      into = *duration;
    } else {
      settings.warnings.push_back(
          fmt::format("{} is \"{}\", not a time as 10m: it is not used", name, value));
    }
  }
  // A number from 1; above `most` it is that.
  void read(const std::string& name, int64_t most, int64_t& into, Settings& settings) const {
    const std::string value = text(name);
    if (value.empty()) return;
    int64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size() && number >= 1) {
      into = std::min(number, most);
    } else {
      settings.warnings.push_back(
          fmt::format("{} is \"{}\", no number from 1: it is not used", name, value));
    }
  }

  static std::unexpected<Error> wrong(std::string_view name, std::string_view what) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: {}", name, what));
  }

 private:
  const std::map<std::string, std::string>& variables_;
};

// Who a URL says that we are: "user:password@" or "token@" before the host.
struct UserInfo {
  std::string user;
  std::string password;
  std::string token;
  bool operator==(const UserInfo&) const = default;
};

Result<std::optional<UserInfo>> take_user_info(std::string& url, size_t scheme_bytes) {
  const size_t at = url.rfind('@');
  if (at == std::string::npos || at < scheme_bytes) return std::nullopt;
  const std::string info = url.substr(scheme_bytes, at - scheme_bytes);
  url.erase(scheme_bytes, at + 1 - scheme_bytes);
  const size_t colon = info.find(':');
  auto first = percent_decoded(info.substr(0, colon));
  auto password = percent_decoded(colon == info.npos ? "" : info.substr(colon + 1));
  if (!first || !password) {
    return Environment::wrong("NATS_URL", "has a '%' that stands for nothing: write %25 for it");
  }
  if (colon == info.npos) return UserInfo{.token = *std::move(first)};
  return UserInfo{.user = *std::move(first), .password = *std::move(password)};
}

Result<void> read_servers(const Environment& environment, Settings& settings) {
  std::string urls = environment.text("NATS_URL");
  if (urls.empty() && environment.production()) {
    return Environment::wrong("NATS_URL", "must be set in production");
  }
  if (urls.empty()) urls = kDefaultUrl;
  std::optional<UserInfo> user;
  size_t with_tls = 0;
  for (std::string_view each : split(urls, ',')) {
    std::string url(trim(each));
    const bool tls = url.starts_with(kTlsScheme);
    if (!tls && !url.starts_with(kPlainScheme)) {
      if (url.empty() || url.find("://") != std::string::npos) {
        return Environment::wrong("NATS_URL",
                                  "must be nats://host:port or tls://host:port, or "
                                  "several of them between commas");
      }
      url.insert(0, kPlainScheme);
    }
    with_tls += tls;
    const size_t scheme_bytes = (tls ? kTlsScheme : kPlainScheme).size();
    auto info = take_user_info(url, scheme_bytes);
    if (!info) return std::unexpected(info.error());
    if (*info && user && **info != *user) {
      return Environment::wrong("NATS_URL", "names two users; all servers are asked as one");
    }
    if (*info) user = *std::move(info);
    if (url.size() == scheme_bytes) return Environment::wrong("NATS_URL", "has no host");
    settings.servers.push_back(std::move(url));
  }
  if (with_tls != 0 && with_tls != settings.servers.size()) {
    return Environment::wrong("NATS_URL", "mixes nats:// and tls://: use one of them");
  }
  settings.tls.on = with_tls != 0;
  if (user) {
    settings.user = user->user;
    settings.password = user->password;
    settings.token = user->token;
  }
  return {};
}

// The first that is set; variables beat what the URL says.
Result<void> read_user(const Environment& environment, Settings& settings) {
  const std::string user = environment.text("NATS_USERNAME");
  const std::string password = environment.text("NATS_PASSWORD");
  if (user.empty() != password.empty()) {
    return Environment::wrong(user.empty() ? "NATS_USERNAME" : "NATS_PASSWORD",
                              "user and password must be set together");
  }
  const std::string token = environment.text("NATS_TOKEN");
  const std::string nkey = environment.text("NATS_NKEY");
  if (user.empty() && token.empty() && nkey.empty()) return {};
  settings.user = user;
  settings.password = password;
  settings.token = user.empty() ? token : "";
  settings.nkey_seed = user.empty() && token.empty() ? nkey : "";
  return {};
}

Result<void> read_tls(const Environment& environment, Tls& tls) {
  if (!tls.on) return {};
  tls.ca = environment.text("NATS_TLS_CA");
  tls.certificate = environment.text("NATS_TLS_CERT");
  tls.key = environment.text("NATS_TLS_KEY");
  tls.server_name = environment.text("NATS_TLS_SERVER_NAME");
  tls.insecure = environment.is_on("NATS_TLS_INSECURE");
  if (tls.certificate.empty() != tls.key.empty()) {
    return Environment::wrong(tls.key.empty() ? "NATS_TLS_KEY" : "NATS_TLS_CERT",
                              "certificate and key must be set together");
  }
  const std::string least = environment.text("CORDUM_TLS_MIN_VERSION");
  if (!least.empty() && least != "1.2" && least != "1.3") {
    return Environment::wrong("CORDUM_TLS_MIN_VERSION",
                              fmt::format("\"{}\" is neither 1.2 nor 1.3", least));
  }
  tls.only_1_3 = least.empty() ? environment.production() : least == "1.3";
  return {};
}

Result<void> demand_of_production(const Environment& environment, const Settings& settings) {
  if (!environment.production()) return {};
  if (!settings.tls.on && !environment.is_on("CORDUM_NATS_ALLOW_PLAINTEXT")) {
    return Environment::wrong("NATS_URL",
                              "must be tls:// in production, unless "
                              "CORDUM_NATS_ALLOW_PLAINTEXT is true");
  }
  if (settings.tls.insecure) {
    return Environment::wrong("NATS_TLS_INSECURE", "is refused in production");
  }
  const bool named =
      !settings.user.empty() || !settings.token.empty() || !settings.nkey_seed.empty();
  if (!named && !environment.is_on("CORDUM_NATS_ALLOW_NOAUTH")) {
    return Environment::wrong("NATS_USERNAME",
                              "and NATS_PASSWORD, NATS_TOKEN or NATS_NKEY must be "
                              "set in production, unless CORDUM_NATS_ALLOW_NOAUTH "
                              "is true");
  }
  return {};
}

void read_jetstream(const Environment& environment, Settings& settings) {
  settings.jetstream = environment.is_on("NATS_USE_JETSTREAM");
  int64_t replicas = settings.replicas;
  environment.read("NATS_JS_REPLICAS", kReplicasMax, replicas, settings);
  settings.replicas = static_cast<int>(replicas);
  environment.read("NATS_JS_MAX_AGE", settings.max_age, settings);
  environment.read("NATS_JS_ACK_WAIT", settings.ack_wait, settings);
  environment.read("NATS_MAX_ACK_PENDING", limits::kAckPendingMax, settings.max_ack_pending,
                   settings);
}

}  // namespace

Result<Settings> read_settings(const std::map<std::string, std::string>& variables) {
  const Environment environment(variables);
  Settings settings;
  if (auto read = read_servers(environment, settings); !read) return std::unexpected(read.error());
  if (auto read = read_user(environment, settings); !read) return std::unexpected(read.error());
  if (auto read = read_tls(environment, settings.tls); !read) return std::unexpected(read.error());
  if (auto good = demand_of_production(environment, settings); !good) {
    return std::unexpected(good.error());
  }
  environment.read("NATS_PING_INTERVAL", settings.ping_every, settings);
  read_jetstream(environment, settings);
  settings.monitor = environment.text("FAIRLEAD_NATS_MONITOR");
  return settings;
}

}  // namespace fairlead::bus::nats
