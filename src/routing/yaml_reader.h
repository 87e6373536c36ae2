// Reading YAML files of ours: bounded, and with the line of what is wrong. Only for the sources
// that parse a file; their headers do not show yaml-cpp.
#pragma once

#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/result.h"

namespace fairlead::routing {

// Thrown while a file is read, caught by read_yaml as yaml-cpp's exceptions are.
struct MalformedYaml {
  std::string message;
};

[[noreturn]] void refuse(const YAML::Node& node, std::string_view message);

std::string text_of(const YAML::Node& node, std::string_view what);
uint32_t seconds_of(const YAML::Node& node, std::string_view what);

class YamlReader {
 public:
  // Calls each(key, key node, value node) for every entry of a map.
  template <class Each>
  void entries(const YAML::Node& map, std::string_view what, Each each) {
    if (!map.IsMap()) refuse(map, fmt::format("{} must be a map", what));
    std::set<std::string> seen;
    for (const auto& entry : map) {
      std::string key = name(entry.first, fmt::format("a name under {}", what));
      if (!seen.insert(key).second) {
        refuse(entry.first, fmt::format("\"{}\" is given twice under {}", key, what));
      }
      each(key, entry.first, entry.second);
    }
  }

  std::vector<std::string> names(const YAML::Node& list, std::string_view what);
  std::string name(const YAML::Node& node, std::string_view what);

 private:
  size_t names_ = 0;
};

// The document in a text that has exactly one and is not too long. Throws.
YAML::Node one_document(std::string_view text);

// What `read` makes of the document; an error says what is wrong with `file`, a name for it.
template <class Read>
auto read_yaml(std::string_view file, std::string_view text, Read read)
    -> Result<decltype(read(YAML::Node()))> {
  try {
    return read(one_document(text));
  } catch (const MalformedYaml& malformed) {
    return fail(ErrorCode::kInvalid, fmt::format("{}, {}", file, malformed.message));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is no YAML: {}", file, error.what()));
  }
}

}  // namespace fairlead::routing
