#include "scheduler/fail_mode.h"

#include "routing/yaml_reader.h"

namespace fairlead::scheduler {

FailMode fail_mode_of(std::string_view word) {
  return word == "open" ? FailMode::kOpen : FailMode::kClosed;
}

Result<FailMode> parse_fail_mode(std::string_view yaml) {
  return routing::read_yaml("safety policy", yaml, [](const YAML::Node& document) {
    if (!document.IsMap()) routing::refuse(document, "it must be a map");
    const YAML::Node policy = document["input_policy"];
    if (!policy || policy.IsNull()) return FailMode::kClosed;
    if (!policy.IsMap()) routing::refuse(policy, "input_policy must be a map");
    const YAML::Node mode = policy["fail_mode"];
    if (!mode || mode.IsNull()) return FailMode::kClosed;
    return fail_mode_of(routing::text_of(mode, "fail_mode"));
  });
}

}  // namespace fairlead::scheduler
