#include "scheduler/timeouts_file.h"

#include <functional>

#include "routing/yaml_reader.h"

namespace fairlead::scheduler {

namespace {

using routing::refuse;
using routing::seconds_of;
using std::chrono::seconds;

constexpr seconds kDispatch{300};
constexpr seconds kRunning{9000};
constexpr seconds kDispatchForZero{120};
constexpr seconds kRunningForZero{300};

seconds or_else(uint32_t given, seconds otherwise) {
  return given == 0 ? otherwise : seconds(given);
}

using Numbers = std::map<std::string, uint32_t>;

class Reader : public routing::YamlReader {
 public:
  // The numbers of a map that may have only these keys.
  Numbers numbers(const YAML::Node& node, const std::string& where,
                  const std::set<std::string>& allowed) {
    Numbers found;
    if (node.IsNull()) return found;
    entries(node, where,
            [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
              if (!allowed.contains(key)) {
                refuse(at, fmt::format("unknown key \"{}\" in {}: it may have {}", key, where,
                                       fmt::join(allowed, ", ")));
              }
              found[key] = seconds_of(value, key);
            });
    return found;
  }

  void each(const YAML::Node& node, const std::string& section,
            const std::function<void(const std::string& name, const YAML::Node&)>& take) {
    if (node.IsNull()) return;
    entries(node, section,
            [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
              take(name, value);
            });
  }
};

}  // namespace

Result<TimeoutsFile> parse_timeouts(std::string_view yaml) {
  return routing::read_yaml("timeouts file", yaml, [](const YAML::Node& document) {
    Reader reader;
    TimeoutsFile file{{kDispatch, kRunning}, {}, {}};
    if (document.IsNull()) return file;
    std::map<std::string, Numbers> topics;
    reader.entries(
        document, "the file",
        [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
          if (key == "reconciler") {
            Numbers given = reader.numbers(
                value, key,
                {"dispatch_timeout_seconds", "running_timeout_seconds", "scan_interval_seconds"});
            file.whole[key][""] = given;
            file.timeouts = {or_else(given["dispatch_timeout_seconds"], kDispatchForZero),
                             or_else(given["running_timeout_seconds"], kRunningForZero)};
          } else if (key == "topics") {
            reader.each(value, key, [&](const std::string& topic, const YAML::Node& node) {
              topics[topic] = reader.numbers(node, fmt::format("topic \"{}\"", topic),
                                             {"dispatch_timeout_seconds", "running_timeout_seconds",
                                              "timeout_seconds", "max_retries"});
              file.whole[key][topic] = topics[topic];
            });
          } else if (key == "workflows") {
            reader.each(value, key, [&](const std::string& workflow, const YAML::Node& node) {
              file.whole[key][workflow] =
                  reader.numbers(node, fmt::format("workflow \"{}\"", workflow),
                                 {"child_timeout_seconds", "total_timeout_seconds", "max_retries"});
            });
          } else {
            refuse(at, fmt::format("unknown key \"{}\": the file may have reconciler, topics and "
                                   "workflows",
                                   key));
          }
        });
    for (auto& [topic, given] : topics) {
      uint32_t running = given["running_timeout_seconds"];
      if (running == 0) running = given["timeout_seconds"];
      uint32_t dispatch = given["dispatch_timeout_seconds"];
      if (running == 0 && dispatch == 0) continue;
      Timeouts& timeouts = file.topics[Topic(topic)];
      timeouts = file.timeouts;
      if (running > 0) timeouts.running = seconds(running);
      if (dispatch > 0) timeouts.dispatch = seconds(dispatch);
    }
    return file;
  });
}

}  // namespace fairlead::scheduler
