#include <algorithm>

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/settings.h"

namespace fairlead::app {

namespace {

std::string shown(const Setting& setting, const Value& value) {
  return setting.secret() && !value.text.empty() ? "(hidden)" : value.text;
}

// Whether it limits the rate of calls and holds nobody up: there are no keys, and it was not asked
// for.
bool has_no_effect(const Settings& settings, std::string_view name) {
  for (const char* keys : {"api-key", "api-keys", "api-keys-file"}) {
    if (!settings.text(keys).empty()) return false;
  }
  auto is_default = [&](std::string_view one) {
    return settings.value(one).source == Source::kDefault;
  };
  if (name == "rate-limit" || name == "rate-burst") {
    return is_default("rate-limit") && is_default("rate-burst");
  }
  if (name == "public-rate-limit" || name == "public-rate-burst") {
    return is_default("public-rate-limit") && is_default("public-rate-burst");
  }
  return false;
}

constexpr const char* kNoEffect = "no limit is in force: there are no API keys";

}  // namespace

std::string describe_settings(Verb verb) {
  auto left = [](const Setting& setting) {
    return setting.is_switch() ? setting.flag()
                               : fmt::format("{} {}", setting.flag(), setting.shape);
  };
  size_t width = 0;
  for (const Setting* setting : settings_of(verb)) width = std::max(width, left(*setting).size());
  std::string text;
  for (const Setting* one : settings_of(verb)) {
    const Setting& setting = *one;
    text += fmt::format("  {:<{}}  {}", left(setting), width, setting.help);
    if (!setting.is_switch() && !setting.fallback.empty()) {
      text += fmt::format(" (default {})", setting.fallback);
    }
    if (!setting.also.empty()) text += fmt::format(" (also {})", setting.also);
    text += '\n';
  }
  return text;
}

std::string show_table(const Settings& settings) {
  size_t names = 7, values = 5;
  for (const Setting* one : settings_of(settings.verb())) {
    const Setting& setting = *one;
    names = std::max(names, setting.name.size());
    values = std::max(values, shown(setting, settings.value(setting.name)).size());
  }
  values = std::min<size_t>(values, 60);
  std::string text = fmt::format("{:<{}}  {:<{}}  FROM\n", "SETTING", names, "VALUE", values);
  for (const Setting* one : settings_of(settings.verb())) {
    const Setting& setting = *one;
    const Value& value = settings.value(setting.name);
    std::string from = to_string(value.source);
    if (!value.place.empty()) from += " (" + value.place + ")";
    if (has_no_effect(settings, setting.name)) from += fmt::format(" ({})", kNoEffect);
    std::string kept = shown(setting, value);
    text += fmt::format("{:<{}}  {:<{}}  {}\n", setting.name, names, kept.empty() ? "-" : kept,
                        values, from);
  }
  return text;
}

std::string show_json(const Settings& settings) {
  boost::json::object all;
  for (const Setting* one : settings_of(settings.verb())) {
    const Setting& setting = *one;
    const Value& value = settings.value(setting.name);
    boost::json::object entry{{"value", shown(setting, value)},
                              {"source", to_string(value.source)}};
    if (!value.place.empty()) entry["from"] = value.place;
    if (has_no_effect(settings, setting.name)) entry["note"] = kNoEffect;
    all[setting.name] = std::move(entry);
  }
  return boost::json::serialize(all) + "\n";
}

}  // namespace fairlead::app
