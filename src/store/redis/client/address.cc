#include "store/redis/client/address.h"

#include <charconv>
#include <optional>

#include <fmt/core.h>

#include "base/limits.h"
#include "base/percent.h"
#include "base/text.h"

namespace fairlead::store::redis {

namespace {

constexpr uint16_t kServerPort = 6379;
constexpr uint16_t kSentinelPort = 26379;

struct Scheme {
  std::string_view prefix;
  bool tls = false;
  bool sentinel = false;
  bool path = false;
};
constexpr Scheme kSchemes[] = {
    {"redis://"},
    {"rediss://", true},
    {"unix://", false, false, true},
    {"redis-sentinel://", false, true},
    {"rediss-sentinel://", true, true},
};

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "host", "host:port", "[::1]:port".
Result<Endpoint> parse_endpoint(std::string_view text, uint16_t usual_port) {
  Endpoint endpoint{"", usual_port, ""};
  size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    size_t end = text.find(']');
    if (end == text.npos) return fail(ErrorCode::kInvalid, "an address lacks its ]");
    endpoint.host = text.substr(1, end - 1);
    if (end + 1 == text.size()) colon = text.npos;
  } else {
    endpoint.host = text.substr(0, colon);
  }
  if (endpoint.host.empty()) return fail(ErrorCode::kInvalid, "the host is missing");
  if (colon == text.npos) return endpoint;
  auto port = parse_number<uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is no port, must be from 1 to 65535", text.substr(colon + 1)));
  }
  endpoint.port = *port;
  return endpoint;
}

class Parser {
 public:
  explicit Parser(const Scheme& scheme) : scheme_(scheme) { address_.tls = scheme.tls; }

  Result<Address> parse(std::string_view rest) && {
    Result<void> parsed = parse_parts(rest);
    if (!parsed) return std::unexpected(parsed.error());
    return std::move(address_);
  }

 private:
  Result<void> parse_parts(std::string_view rest) {
    std::string_view query;
    if (size_t mark = rest.find('?'); mark != rest.npos) {
      query = rest.substr(mark + 1);
      rest = rest.substr(0, mark);
    }
    if (size_t at = rest.rfind('@'); at != rest.npos) {
      if (auto parsed = parse_credentials(rest.substr(0, at)); !parsed) return parsed;
      rest.remove_prefix(at + 1);
    }
    auto parsed = scheme_.path ? parse_path(rest) : parse_hosts(rest);
    if (!parsed) return parsed;
    for (std::string_view option : split(query, '&')) {
      if (auto taken = parse_option(option); !taken) return taken;
    }
    return {};
  }

  Result<void> parse_option(std::string_view option) {
    const size_t mark = option.find('=');
    const std::string_view name = option.substr(0, mark);
    const std::string_view value = mark == option.npos ? "" : option.substr(mark + 1);
    if (name == "db") return parse_database(value);
    std::string* of_sentinel = name == "sentinel_username"   ? &address_.sentinel.user
                               : name == "sentinel_password" ? &address_.sentinel.password
                                                             : nullptr;
    if (!of_sentinel) return {};
    auto decoded = percent_decoded(value);
    if (!decoded) return undecodable();
    *of_sentinel = *std::move(decoded);
    return {};
  }

  Result<void> parse_credentials(std::string_view text) {
    size_t colon = text.find(':');
    auto user = percent_decoded(text.substr(0, colon));
    auto password = percent_decoded(colon == text.npos ? "" : text.substr(colon + 1));
    if (!user || !password) return undecodable();
    address_.server = {*std::move(user), *std::move(password)};
    return {};
  }

  static std::unexpected<Error> undecodable() {
    return fail(ErrorCode::kInvalid, "user or password holds a % that encodes nothing");
  }

  Result<void> parse_path(std::string_view text) {
    if (!text.starts_with('/')) {
      return fail(ErrorCode::kInvalid, "the path of a socket begins with /");
    }
    address_.endpoints.push_back({"", 0, std::string(text)});
    return {};
  }

  Result<void> parse_hosts(std::string_view text) {
    size_t slash = text.find('/');
    std::string_view hosts = text.substr(0, slash);
    std::string_view path = slash == text.npos ? "" : text.substr(slash + 1);
    for (std::string_view host : split(hosts, ',')) {
      auto endpoint = parse_endpoint(host, scheme_.sentinel ? kSentinelPort : kServerPort);
      if (!endpoint) return std::unexpected(endpoint.error());
      address_.endpoints.push_back(*std::move(endpoint));
    }
    if (!scheme_.sentinel) {
      if (address_.endpoints.size() > 1) {
        return fail(ErrorCode::kInvalid, "one host is named, several only of redis-sentinel://");
      }
      return path.empty() ? Result<void>{} : parse_database(path);
    }
    if (address_.endpoints.size() > limits::kRedisSentinelsMax) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("at most {} Sentinels are named", limits::kRedisSentinelsMax));
    }
    size_t end = path.find('/');
    address_.master = path.substr(0, end);
    if (address_.master.empty()) {
      return fail(ErrorCode::kInvalid,
                  "the name of the master is missing: redis-sentinel://host/NAME");
    }
    return end == path.npos ? Result<void>{} : parse_database(path.substr(end + 1));
  }

  Result<void> parse_database(std::string_view text) {
    auto number = parse_number<int>(text);
    if (!number || *number < 0) {
      return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no number of a database", text));
    }
    address_.database = *number;
    return {};
  }

  const Scheme& scheme_;
  Address address_;
};

}  // namespace

std::string Endpoint::shown() const {
  if (!path.empty()) return path;
  bool bare = host.find(':') == host.npos;
  return fmt::format("{}{}{}:{}", bare ? "" : "[", host, bare ? "" : "]", port);
}

std::string Address::shown() const {
  std::string text;
  for (const Endpoint& endpoint : endpoints) {
    if (!text.empty()) text += ',';
    text += endpoint.shown();
  }
  return master.empty() ? text : fmt::format("{} (by Sentinel {})", master, text);
}

Result<Address> parse_address(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (!url.starts_with(scheme.prefix)) continue;
    auto address = Parser(scheme).parse(url.substr(scheme.prefix.size()));
    if (address) return address;
    return fail(ErrorCode::kInvalid, "the URL of Redis makes no sense: " + address.error().message);
  }
  return fail(ErrorCode::kInvalid,
              "the URL of Redis begins with redis://, rediss://, unix://, redis-sentinel:// or "
              "rediss-sentinel://");
}

}  // namespace fairlead::store::redis
