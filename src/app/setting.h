// The table of settings: each row is a flag, an environment variable and a key of the settings file
// at once, with its default and what it means. Whatever shows or reads settings goes through it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::app {

// The commands that have settings.
enum class Verb { kUp, kServe };

struct Setting {
  // "listen-api": the flag --listen-api, FAIRLEAD_LISTEN_API, and listen_api in the file.
  std::string_view name;
  std::string_view shape;     // of its value in --help, as HOST:PORT; "": a switch, true or false
  std::string_view fallback;  // in force when nobody says otherwise
  std::string_view help;
  // "" when the value is right; else what would be right, as "must be text or json".
  std::string (*check)(std::string_view value);
  // Another variable of the environment, as other tools call it; ours is asked first.
  std::string_view also = {};
  enum class Care {
    kNone,
    kSecret,  // its value is never shown
    kNoKey,   // makes no sense in the file
  };
  Care care = Care::kNone;
  std::optional<Verb> only = {};  // of this command; none: of all
  // Makes the fallback where it depends on the machine.
  std::string (*made_fallback)() = nullptr;

  bool secret() const { return care == Care::kSecret; }
  bool is_switch() const { return shape.empty(); }
  bool is_of(Verb verb) const { return !only || *only == verb; }
  std::string flag() const;
  std::string variable() const;
  std::string key() const;
};

// In the order in which they are shown.
std::vector<const Setting*> settings_of(Verb verb);
// nullptr: there is none of that name.
const Setting* find_setting(Verb verb, std::string_view name);

inline constexpr std::string_view kConfigSetting = "config";

}  // namespace fairlead::app
