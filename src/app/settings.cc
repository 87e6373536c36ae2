#include "app/settings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/text_file.h"
#include "app/value_checks.h"
#include "base/check.h"

namespace fairlead::app {

namespace {

using Values = std::map<std::string_view, Value>;

std::unexpected<Wrong> usage(std::string message) {
  return std::unexpected(Wrong{kUsage, std::move(message)});
}

// What is wrong with a value, in a sentence; "" when nothing is.
std::string problem_of(const Setting& setting, const Value& value) {
  std::string right = setting.check(value.text);
  if (right.empty()) return "";
  if (setting.secret()) return fmt::format("{} {}", value.place, right);
  return fmt::format("{} is \"{}\", {}", value.place, value.text, right);
}

// A number or a time in a variable of the Go services that makes no sense does not keep them from
// starting, so it does not keep us (CFG-2).
bool is_forgiven(const Setting& setting, const Value& value) {
  constexpr std::array kNumbers{is_duration,  is_rate, is_burst,
                                is_body_size, is_days, is_entry_count};
  const bool number = std::ranges::find(kNumbers, setting.check) != kNumbers.end();
  return number && value.source == Source::kEnvironment && value.place == setting.also;
}

std::expected<Values, Wrong> read_flags(Verb verb, std::span<const std::string_view> words) {
  Values values;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with("--")) {
      return usage(
          fmt::format("\"{}\" is no flag: every setting is --name VALUE (see --help)", word));
    }
    const size_t mark = word.find('=');
    const std::string_view flag = word.substr(0, mark);
    const Setting* setting = find_setting(verb, flag.substr(2));
    if (!setting) {
      return usage(fmt::format("there is no flag {} (see --help)", flag));
    }
    Value value{.source = Source::kFlag, .place = setting->flag()};
    if (mark != word.npos) {
      value.text = word.substr(mark + 1);
    } else if (setting->is_switch()) {
      value.text = "true";
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      value.text = words[++i];
    } else {
      return usage(fmt::format("{} needs a value: {} {}", flag, flag, setting->shape));
    }
    values[setting->name] = std::move(value);
  }
  return values;
}

Values read_environment(Verb verb, const Settings::Environment& environment) {
  Values values;
  for (const Setting* setting : settings_of(verb)) {
    for (const std::string& name : {setting->variable(), std::string(setting->also)}) {
      const char* text = name.empty() ? nullptr : environment(name);
      // A variable set to nothing is how shells unset one for a single command.
      if (!text || !*text) continue;
      values[setting->name] = {text, Source::kEnvironment, name};
      break;
    }
  }
  return values;
}

std::expected<Values, Wrong> read_file(Verb verb, const std::string& path) {
  auto text = read_text_file(path, kSettingsFileBytesMax);
  if (!text) {
    return std::unexpected(Wrong{kFailure, fmt::format("settings file {}", text.error().message)});
  }
  auto values = parse_settings_file(verb, *text, path);
  if (!values) return std::unexpected(Wrong{kUsage, values.error().message});
  return *std::move(values);
}

// What is wrong with values that are right each by itself; "" when nothing is.
std::string conflict_in(const Settings& settings) {
  if (!settings.has("timeouts")) return "";
  for (std::string_view time : {"dispatch-timeout", "running-timeout"}) {
    if (settings.value(time).source == Source::kDefault) continue;
    return fmt::format(
        "{} and {} are both set: the file says how long jobs may take, leave out one",
        settings.told("timeouts"), settings.told(time));
  }
  return "";
}

}  // namespace

const char* to_string(Source source) {
  switch (source) {
    case Source::kDefault:
      return "default";
    case Source::kFile:
      return "file";
    case Source::kEnvironment:
      return "environment";
    case Source::kFlag:
      return "flag";
  }
  return "";
}

std::expected<Settings, Wrong> Settings::resolve(Verb verb, std::span<const std::string_view> words,
                                                 const Environment& environment) {
  auto flags = read_flags(verb, words);
  if (!flags) return std::unexpected(std::move(flags.error()));
  Values variables = read_environment(verb, environment);
  Values file;
  auto given = flags->find(kConfigSetting);
  const Value* config = given != flags->end()                ? &given->second
                        : variables.contains(kConfigSetting) ? &variables.at(kConfigSetting)
                                                             : nullptr;
  if (config) {
    if (config->text.empty()) return usage(config->place + " is empty, must name a file");
    auto read = read_file(verb, config->text);
    if (!read) return std::unexpected(std::move(read.error()));
    file = *std::move(read);
  }
  Settings settings;
  settings.verb_ = verb;
  for (const Setting* setting : settings_of(verb)) {
    Value& chosen = settings.values_[setting->name];
    chosen.text = setting->made_fallback ? setting->made_fallback() : setting->fallback;
    for (const Values* source : {&*flags, &variables, &file}) {
      auto found = source->find(setting->name);
      if (found == source->end()) continue;
      std::string problem = problem_of(*setting, found->second);
      if (problem.empty()) {
        chosen = found->second;
        break;
      }
      if (!is_forgiven(*setting, found->second)) return usage(problem);
      settings.warnings_.push_back(problem + ": it is not used");
    }
  }
  if (std::string conflict = conflict_in(settings); !conflict.empty()) return usage(conflict);
  return settings;
}

void Settings::set(std::string_view name, Value value) {
  auto found = values_.find(name);
  check(found != values_.end(), "every setting has a value");
  found->second = std::move(value);
}

const Value& Settings::value(std::string_view name) const {
  auto found = values_.find(name);
  check(found != values_.end(), "every setting has a value");
  return found->second;
}

std::string Settings::told(std::string_view name) const {
  const Value& told = value(name);
  return told.place.empty() ? "--" + std::string(name) : told.place;
}

}  // namespace fairlead::app
