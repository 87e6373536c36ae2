#include "base/rfc3339.h"

#include <charconv>
#include <chrono>

#include <fmt/core.h>

namespace fairlead {

namespace {

template <class T>
bool read_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string rfc3339(WallTime time) {
  auto since = time.time_since_epoch();
  auto day = std::chrono::floor<std::chrono::days>(since);
  std::chrono::year_month_day date{std::chrono::sys_days(day)};
  std::chrono::hh_mm_ss clock{since - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string rfc3339_seconds(WallTime time) {
  return rfc3339(time).substr(0, 19) + "Z";
}

std::optional<ParsedTime> parse_rfc3339(std::string_view text) {
  if (text.size() < 20 || text.back() != 'Z' || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!read_number(text.substr(0, 4), year) || !read_number(text.substr(5, 2), month) ||
      !read_number(text.substr(8, 2), day) || !read_number(text.substr(11, 2), hour) ||
      !read_number(text.substr(14, 2), minute) || !read_number(text.substr(17, 2), second)) {
    return std::nullopt;
  }
  std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                   std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;

  int64_t fraction = 0;
  int64_t unit = 1'000'000;
  std::string_view rest = text.substr(19, text.size() - 20);
  if (!rest.empty()) {
    std::string digits(rest.substr(1));
    if (rest[0] != '.' || digits.empty() || digits.size() > 9) return std::nullopt;
    for (size_t i = 0; i < digits.size() && unit > 1; ++i) unit /= 10;
    digits.resize(6, '0');
    if (!read_number(std::string_view(digits), fraction)) return std::nullopt;
  }
  auto midnight = std::chrono::sys_days(date).time_since_epoch();
  int64_t seconds = std::chrono::seconds(midnight).count() + hour * 3600 + minute * 60 + second;
  int64_t micros = seconds * 1'000'000 + fraction;
  return ParsedTime{wall_time_from_micros(micros), Duration(unit)};
}

}  // namespace fairlead
