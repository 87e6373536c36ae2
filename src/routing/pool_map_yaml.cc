// The only file here that knows yaml-cpp.
#include <charconv>
#include <exception>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/limits.h"
#include "base/text.h"
#include "routing/pool_map.h"

namespace fairlead::routing {

namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr size_t kNameBytesMax = limits::kTopicBytesMax;
// All names in the file, and in the lists that aliases repeat.
constexpr size_t kNamesMax = 100'000;

// Caught by parse_pool_map, as yaml-cpp's exceptions are.
struct Malformed {
  std::string message;
};

[[noreturn]] void refuse(const YAML::Node& node, std::string_view message) {
  throw Malformed{fmt::format("line {}: {}", node.Mark().line + 1, message)};
}

std::string text_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) refuse(node, fmt::format("{} must be a text", what));
  return node.Scalar();
}

PoolStatus status_of(const YAML::Node& node) {
  std::string text = lower(trim(text_of(node, "status")));
  if (text == "active") return PoolStatus::kActive;
  if (text == "draining") return PoolStatus::kDraining;
  if (text == "inactive") return PoolStatus::kInactive;
  refuse(node, fmt::format("status \"{}\" must be active, draining or inactive", text));
}

void check_seconds(const YAML::Node& node, std::string_view what) {
  std::string text = text_of(node, what);
  uint32_t seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(node, fmt::format("{} \"{}\" must be a whole number of seconds", what, text));
  }
}

class Reader {
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

  std::vector<std::string> names(const YAML::Node& list, std::string_view what) {
    if (!list.IsSequence()) refuse(list, fmt::format("{} must be a list", what));
    std::vector<std::string> all;
    for (const YAML::Node& item : list) all.push_back(name(item, what));
    return all;
  }

  std::string name(const YAML::Node& node, std::string_view what) {
    if (++names_ > kNamesMax) refuse(node, fmt::format("there are more than {} names", kNamesMax));
    std::string text(trim(text_of(node, what)));
    if (text.empty()) refuse(node, fmt::format("{} must not be empty", what));
    if (text.size() > kNameBytesMax) {
      refuse(node, fmt::format("{} must not be longer than {} bytes", what, kNameBytesMax));
    }
    return text;
  }

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
                check_seconds(value, key);
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

 private:
  size_t names_ = 0;
};

// Hears a document and keeps nothing of it.
class Deaf final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll would tell too, but where the parser stands still (as at a comma that opens the
// file) it reads documents for ever.
bool is_one_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Deaf deaf;
  int documents = 0;
  while (documents < 2 && parser.HandleNextDocument(deaf)) ++documents;
  return documents == 1;
}

}  // namespace

Result<PoolMap> parse_pool_map(std::string_view yaml) {
  if (yaml.size() > kFileBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("pools file has {} bytes, at most {} are allowed",
                                                 yaml.size(), kFileBytesMax));
  }
  try {
    std::string text(yaml);
    if (!is_one_document(text)) throw Malformed{"must be one YAML document with topics and pools"};
    YAML::Node document = YAML::Load(text);
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
    if (map.topics_.empty()) throw Malformed{"there must be at least one entry under topics"};
    return map;
  } catch (const Malformed& malformed) {
    return fail(ErrorCode::kInvalid, "pools file, " + malformed.message);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, fmt::format("pools file is no YAML: {}", error.what()));
  }
}

}  // namespace fairlead::routing
