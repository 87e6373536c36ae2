#include "app/value_checks.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <arpa/inet.h>

#include "base/text.h"

namespace fairlead::app {

namespace {

bool is_address(const std::string& host) {
  in6_addr six{};
  in_addr four{};
  return inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

}  // namespace

std::string HostPort::text() const {
  const bool six = host.find(':') != host.npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  HostPort out{std::string(text.substr(0, colon)), 0};
  std::string_view port = text.substr(colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']') {
    out.host = out.host.substr(1, out.host.size() - 2);
    if (out.host.find(':') == out.host.npos) return std::nullopt;
  } else if (out.host.find(':') != out.host.npos) {
    return std::nullopt;  // where would the port begin
  }
  if (out.host == "localhost") out.host = "127.0.0.1";
  if (!is_address(out.host)) return std::nullopt;
  return out;
}

std::optional<double> parse_number(std::string_view text) {
  constexpr size_t kDigitsMax = 9;
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  if (!std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; })) {
    return std::nullopt;
  }
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_flag(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::string any_text(std::string_view) {
  return "";
}

std::string not_empty(std::string_view value) {
  return value.empty() ? "must not be empty" : "";
}

std::string is_flag(std::string_view value) {
  return parse_flag(value) ? "" : "must be true or false";
}

std::string is_host_port(std::string_view value) {
  if (parse_host_port(value)) return "";
  return "must be HOST:PORT, as 127.0.0.1:8081, [::1]:8081 or 0.0.0.0:8081 (port 0: any free one)";
}

std::string is_rate(std::string_view value) {
  return parse_number(value) ? "" : "must be a number, as 500";
}

std::string is_seconds(std::string_view value) {
  auto number = parse_number(value);
  return number && *number >= 1 ? "" : "must be a number of seconds from 1, as 300";
}

std::string is_origin_list(std::string_view value) {
  for (std::string_view part : split(value, ',')) {
    part = trim(part);
    if (part.empty() || part == "*") continue;
    const size_t host = part.find("://");
    if (host == part.npos || host == 0 || part.find('/', host + 3) != part.npos ||
        part.size() == host + 3) {
      return "must be * or origins between commas, as "
             "https://app.example.com,http://localhost:3000";
    }
  }
  return "";
}

std::string is_instance(std::string_view value) {
  constexpr size_t kBytesMax = 64;
  const bool right = !value.empty() && value.size() <= kBytesMax &&
                     std::ranges::all_of(value, [](unsigned char c) {
                       return std::isalnum(c) || c == '-' || c == '_';
                     });
  return right ? "" : "must be 1 to 64 letters, digits, '-' and '_'";
}

std::string is_log_format(std::string_view value) {
  return value == "text" || value == "json" ? "" : "must be text or json";
}

std::string is_log_level(std::string_view value) {
  const bool right = value == "debug" || value == "info" || value == "warning" || value == "error";
  return right ? "" : "must be debug, info, warning or error";
}

}  // namespace fairlead::app
