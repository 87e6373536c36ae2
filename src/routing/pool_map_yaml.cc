#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "routing/pool_map.h"
#include "routing/yaml_reader.h"

namespace fairlead::routing {

namespace {

PoolStatus status_of(const YAML::Node& node) {
  std::string text = lower(trim(text_of(node, "status")));
  if (text == "active") return PoolStatus::kActive;
  if (text == "draining") return PoolStatus::kDraining;
  if (text == "inactive") return PoolStatus::kInactive;
  refuse(node, fmt::format("status \"{}\" must be active, draining or inactive", text));
}

class Reader : public YamlReader {
 public:
  Pool pool(const std::string& pool_name, const YAML::Node& node) {
    Pool pool{.name = PoolName(pool_name)};
    if (node.IsNull()) return pool;
    std::string where = fmt::format("pool \"{}\"", pool_name);
    entries(node, where,
            [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
              if (key == "requires") {
                if (!value.IsNull()) pool.capabilities = normalised(names(value, "requires"));
              } else if (key == "status") {
                pool.status = status_of(value);
              } else if (key == "description") {
                if (!value.IsNull()) pool.description = text_of(value, "description");
              } else if (key == "drain_started_at") {
                if (!value.IsNull()) text_of(value, key);
              } else if (key == "drain_timeout_seconds") {
                (void)seconds_of(value, key);
              } else {
                refuse(at, fmt::format("unknown key \"{}\" in {}: it may have requires, status, "
                                       "description, drain_started_at and drain_timeout_seconds",
                                       key, where));
              }
            });
    return pool;
  }

  std::vector<PoolName> topic(const std::string& topic_name, const YAML::Node& at,
                              const YAML::Node& node, const std::map<PoolName, Pool>& pools) {
    if (!node.IsScalar() && !(node.IsSequence() && node.size() > 0)) {
      refuse(at, fmt::format("topic \"{}\" must name a pool or a list of pools", topic_name));
    }
    std::string what = fmt::format("pool of topic \"{}\"", topic_name);
    std::vector<PoolName> mapped;
    std::set<std::string> seen;
    for (std::string& pool : node.IsScalar() ? std::vector{name(node, what)} : names(node, what)) {
      if (!seen.insert(pool).second) continue;
      mapped.emplace_back(std::move(pool));
      if (!pools.contains(mapped.back())) {
        refuse(at, fmt::format("topic \"{0}\" names pool \"{1}\", which is not under pools: add "
                               "\"{1}: {{}}\" there",
                               topic_name, mapped.back().str()));
      }
    }
    return mapped;
  }
};

}  // namespace

Result<PoolMap> parse_pool_map(std::string_view yaml) {
  return read_yaml("pools file", yaml, [](const YAML::Node& document) {
    Reader reader;
    YAML::Node topics, pools;
    reader.entries(document, "the file",
                   [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                     if (key != "topics" && key != "pools") {
                       refuse(at, fmt::format("unknown key \"{}\": the file may have topics and "
                                              "pools",
                                              key));
                     }
                     (key == "topics" ? topics : pools).reset(value);
                   });

    PoolMap map;
    if (!pools.IsNull()) {
      reader.entries(pools, "pools",
                     [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
                       map.pools_.emplace(PoolName(name), reader.pool(name, value));
                     });
    }
    if (!topics.IsNull()) {
      reader.entries(topics, "topics",
                     [&](const std::string& name, const YAML::Node& at, const YAML::Node& value) {
                       map.topics_.emplace(Topic(name), reader.topic(name, at, value, map.pools_));
                     });
    }
    if (map.topics_.empty()) throw MalformedYaml{"there must be at least one entry under topics"};
    return map;
  });
}

}  // namespace fairlead::routing
