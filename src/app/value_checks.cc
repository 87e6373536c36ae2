#include "app/value_checks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>

#include <arpa/inet.h>
#include <unistd.h>

#include "base/go_duration.h"
#include "base/text.h"

namespace fairlead::app {

namespace {

constexpr size_t kInstanceBytesMax = 64;

bool is_name_char(unsigned char c) {
  return std::isalnum(c) || c == '-' || c == '_' || c == '.';
}

bool is_whole(std::string_view value, int64_t min, int64_t max) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number >= min &&
         number <= max;
}

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
  if (out.host.empty()) out.host = "0.0.0.0";
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
  const std::string word = lower(text);
  for (const char* yes : {"true", "1", "yes", "y", "on"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"false", "0", "no", "n", "off"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

std::string instance_of_host(std::string_view host) {
  if (host.empty()) return "unknown";
  std::string name(host.substr(0, kInstanceBytesMax));
  std::ranges::replace_if(name, [](unsigned char c) { return !is_name_char(c); }, '-');
  return name;
}

std::string instance_of_this_host() {
  char name[HOST_NAME_MAX + 1] = {};
  return instance_of_host(::gethostname(name, sizeof(name) - 1) == 0 ? name : "");
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

std::string is_burst(std::string_view value) {
  auto number = parse_number(value);
  return number && *number >= 1 ? "" : "must be a number from 1, as 1000";
}

std::string is_body_size(std::string_view value) {
  return is_whole(value, 1024, 64 << 20) ? "" : "must be a number of bytes from 1024 to 67108864";
}

std::string is_days(std::string_view value) {
  return is_whole(value, 1, 36'500) ? "" : "must be a number of days from 1 to 36500";
}

std::string is_entry_count(std::string_view value) {
  return is_whole(value, 1, 1'000'000) ? "" : "must be a number from 1 to 1000000";
}

std::string is_seconds(std::string_view value) {
  auto number = parse_number(value);
  return number && *number >= 1 ? "" : "must be a number of seconds from 1, as 300";
}

std::string is_count(std::string_view value) {
  auto number = parse_number(value);
  const bool right = number && *number >= 1 && *number <= 1000 && *number == std::floor(*number);
  return right ? "" : "must be a whole number from 1 to 1000";
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
  const bool right = !value.empty() && value.size() <= kInstanceBytesMax &&
                     std::ranges::all_of(value, is_name_char);
  return right ? "" : "must be 1 to 64 letters, digits, '-', '_' and '.'";
}

std::string is_role_list(std::string_view value) {
  bool schedules = false;
  for (std::string_view role : split(value, ',')) {
    role = trim(role);
    if (role != "scheduler" && role != "gateway") return "must be scheduler or scheduler,gateway";
    if (role == "scheduler") schedules = true;
  }
  return schedules ? "" : "must be scheduler or scheduler,gateway: a gateway needs a scheduler";
}

std::string is_duration(std::string_view value) {
  auto parsed = parse_go_duration(value);
  return parsed && *parsed > Duration(0) ? "" : "must be a time as 5s, 500ms or 1m30s";
}

std::string is_log_format(std::string_view value) {
  const std::string format = lower(value);
  return format == "text" || format == "json" ? "" : "must be text or json";
}

std::string is_log_level(std::string_view value) {
  const std::string level = lower(value);
  const bool right = level == "debug" || level == "info" || level == "warning" || level == "warn" ||
                     level == "error";
  return right ? "" : "must be debug, info, warning or error";
}

}  // namespace fairlead::app
