// The only file here that knows yaml-cpp.
#include <exception>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "app/settings.h"
#include "app/text_file.h"

namespace fairlead::app {

namespace {

// Caught below, as yaml-cpp's exceptions are.
struct Malformed {
  std::string message;
};

// A list is what its parts are between commas.
std::string value_text(const YAML::Node& node, std::string_view place) {
  if (node.IsNull()) return "";
  if (node.IsScalar()) return node.Scalar();
  if (!node.IsSequence()) throw Malformed{fmt::format("{} must be a text or a list", place)};
  std::string all;
  for (const YAML::Node& part : node) {
    if (!part.IsScalar()) throw Malformed{fmt::format("{} must be a list of texts", place)};
    if (!all.empty()) all += ',';
    all += part.Scalar();
    // Aliases can make much of a small file.
    if (all.size() > kSettingsFileBytesMax) throw Malformed{fmt::format("{} is too long", place)};
  }
  return all;
}

const Setting* setting_of_key(Verb verb, std::string_view key) {
  for (const Setting* setting : settings_of(verb)) {
    if (setting->care != Setting::Care::kNoKey && setting->key() == key) return setting;
  }
  return nullptr;
}

}  // namespace

Result<std::map<std::string_view, Value>> parse_settings_file(Verb verb, std::string_view text,
                                                              const std::string& path) {
  std::map<std::string_view, Value> values;
  try {
    YAML::Node root = YAML::Load(std::string(text));
    if (root.IsNull()) return values;
    if (!root.IsMap()) {
      throw Malformed{fmt::format("{}: must be a map of settings, as \"data: ./data\"", path)};
    }
    for (const auto& entry : root) {
      const YAML::Node &key = entry.first, &node = entry.second;
      const std::string at = fmt::format("{} line {}", path, key.Mark().line + 1);
      if (!key.IsScalar()) throw Malformed{at + ": the name of a setting must be a text"};
      const Setting* setting = setting_of_key(verb, key.Scalar());
      if (!setting) {
        throw Malformed{
            fmt::format("{}: there is no setting \"{}\" (see fairlead {} --help; '_' "
                        "stands for '-')",
                        at, key.Scalar(), verb == Verb::kUp ? "up" : "serve")};
      }
      const std::string place = fmt::format("{}: {}", at, setting->key());
      Value value{value_text(node, place), Source::kFile, place};
      if (!values.emplace(setting->name, std::move(value)).second) {
        throw Malformed{fmt::format("{} is given twice", place)};
      }
    }
  } catch (const Malformed& malformed) {
    return fail(ErrorCode::kInvalid, malformed.message);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} line {}: not YAML: {}", path, error.mark.line + 1, error.msg));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: {}", path, error.what()));
  }
  return values;
}

}  // namespace fairlead::app
