#include "app/environment.h"

#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "app/value_checks.h"
#include "base/go_duration.h"
#include "base/text.h"

namespace fairlead::app {

std::string Environment::text(const std::string& name) const {
  auto found = variables_.find(name);
  return found == variables_.end() ? std::string() : std::string(trim(found->second));
}

bool Environment::is_on(const std::string& name) const {
  return parse_flag(text(name)).value_or(false);
}

bool Environment::is_production() const {
  const std::string name = lower(text("CORDUM_ENV"));
  return name == "production" || name == "prod" || is_on("CORDUM_PRODUCTION");
}

void Environment::read(const std::string& name, Duration& into) {
  const std::string value = text(name);
  if (value.empty()) return;
  auto parsed = parse_go_duration(value);
  if (parsed && *parsed > Duration(0)) {
    into = *parsed;
  } else {
    warn(fmt::format("{} is \"{}\", not a time as 168h: it is not used", name, value));
  }
}

void Environment::read(const std::string& name, Duration unit, Duration& into) {
  size_t count = 0;
  read(name, count);
  if (count > 0) into = static_cast<int64_t>(count) * unit;
}

void Environment::read(const std::string& name, size_t& into) {
  const std::string value = text(name);
  if (value.empty()) return;
  uint32_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number > 0) {
    into = number;
  } else {
    warn(fmt::format("{} is \"{}\", not a whole number from 1: it is not used", name, value));
  }
}

Variables own_environment() {
  Variables variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t mark = text.find('=');
    if (mark != text.npos) variables.emplace(text.substr(0, mark), text.substr(mark + 1));
  }
  return variables;
}

}  // namespace fairlead::app
