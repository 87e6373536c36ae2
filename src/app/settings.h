// The settings in force, and where each came from. A flag beats the environment, which beats the
// file, which beats the default.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/setting.h"
#include "base/result.h"

namespace fairlead::app {

enum class Source { kDefault, kFile, kEnvironment, kFlag };
const char* to_string(Source source);

struct Value {
  std::string text;
  Source source = Source::kDefault;
  // "--data", "FAIRLEAD_DATA", "fairlead.yaml line 3"; "" for a default.
  std::string place;
};

// What ends the program before it began: one line, and the status it ends with.
struct Wrong {
  int status = 0;
  std::string message;
};
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

class Settings {
 public:
  // nullptr: not set.
  using Environment = std::function<const char*(const std::string& name)>;

  // `flags` are the words behind the verb. Words that are no flags are refused, and so are settings
  // of which one would overrule the other.
  static std::expected<Settings, Wrong> resolve(Verb verb, std::span<const std::string_view> flags,
                                                const Environment& environment);

  // REQUIRES: there is a setting of that name.
  const Value& value(std::string_view name) const;
  const std::string& text(std::string_view name) const { return value(name).text; }
  bool has(std::string_view name) const { return !text(name).empty(); }

  // REQUIRES: there is a setting of that name.
  void set(std::string_view name, Value value);

  // "--data is "x"", for errors: the name by which it was set.
  std::string told(std::string_view name) const;

  Verb verb() const { return verb_; }
  // Of variables of other tools that make no sense and so are not used.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Verb verb_ = Verb::kUp;
  std::vector<std::string> warnings_;
  std::map<std::string_view, Value> values_;
};

// The settings file: every key is one of a setting. The error names file, line, and what would be
// right.
Result<std::map<std::string_view, Value>> parse_settings_file(Verb verb, std::string_view text,
                                                              const std::string& path);

// What --help says of every setting.
std::string describe_settings(Verb verb);
// `fairlead settings`: name, value, source. Secrets are not shown.
std::string show_table(const Settings& settings);
std::string show_json(const Settings& settings);

}  // namespace fairlead::app
