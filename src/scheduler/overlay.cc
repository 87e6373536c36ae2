#include "scheduler/overlay.h"

#include <algorithm>
#include <vector>

#include <boost/json.hpp>

#include "base/rfc3339.h"
#include "job/request.h"

namespace fairlead::scheduler {

namespace {

namespace json = boost::json;

constexpr const char* kPoolsHash = "_poolsFileHash";
constexpr const char* kTimeoutsHash = "_timeoutsFileHash";

// With the names of every object in order.
void write_canonical(const json::value& value, std::string& out) {
  if (const json::object* object = value.if_object()) {
    std::vector<std::string_view> names;
    for (const auto& [name, unused] : *object) names.push_back(name);
    std::ranges::sort(names);
    out += '{';
    for (std::string_view name : names) {
      out += json::serialize(json::value(name)) + ':';
      write_canonical(object->at(name), out);
      out += ',';
    }
    out += '}';
  } else if (const json::array* array = value.if_array()) {
    out += '[';
    for (const json::value& item : *array) {
      write_canonical(item, out);
      out += ',';
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

const json::object* object_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value ? value->if_object() : nullptr;
}

Result<json::object> parse_document(std::string_view document) {
  boost::system::error_code wrong;
  json::value parsed = json::parse(document, wrong);
  if (wrong || !parsed.is_object()) {
    return fail(ErrorCode::kInvalid, "the shared configuration is no JSON object");
  }
  return std::move(parsed.get_object());
}

json::object to_json(const routing::PoolMap& map) {
  json::object topics, pools;
  for (const Topic& topic : map.topics()) {
    json::array names;
    for (const PoolName& pool : *map.pools_of(topic)) names.emplace_back(pool.str());
    topics[topic.str()] = std::move(names);
  }
  for (const routing::Pool& pool : map.pools()) {
    json::object entry{
        {"requires", json::array(pool.capabilities.begin(), pool.capabilities.end())},
        {"status", routing::to_string(pool.status)}};
    if (!pool.description.empty()) entry["description"] = pool.description;
    pools[pool.name.str()] = std::move(entry);
  }
  return {{"topics", std::move(topics)}, {"pools", std::move(pools)}};
}

// As the file says it: other services read it too.
json::object to_json(const TimeoutsFile& file) {
  json::object sections;
  for (const auto& [section, entries] : file.whole) {
    json::object& there = sections[section].emplace_object();
    for (const auto& [entry, numbers] : entries) {
      json::object& into = entry.empty() ? there : there[entry].emplace_object();
      for (const auto& [name, number] : numbers) into[name] = number;
    }
  }
  return sections;
}

bool is_same(const json::value& one, const json::object& other) {
  std::string left, right;
  write_canonical(one, left);
  write_canonical(other, right);
  return left == right;
}

std::string hash_of(const json::object& part) {
  std::string canonical;
  write_canonical(part, canonical);
  return job::sha256_hex(canonical);
}

// Adds the entries of a section that are not there yet; false: all are.
bool add_missing(json::object& into, const json::object& from, std::string_view section) {
  bool added = !object_at(into, section);
  if (added) into[section] = json::object();
  json::object& there = into[section].get_object();
  for (const auto& [name, entry] : from.at(section).get_object()) {
    added |= there.emplace(name, entry).second;
  }
  return added;
}

json::object& data_of(json::object& document) {
  if (!object_at(document, "data")) document["data"] = json::object();
  return document["data"].get_object();
}

bool has_text(const json::object& object, std::string_view name, std::string_view text) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() && value->get_string() == text;
}

}  // namespace

Result<Overlay> parse_overlay(std::string_view document) {
  Result<json::object> parsed = parse_document(document);
  if (!parsed) return std::unexpected(parsed.error());
  Overlay overlay;
  const json::object* data = object_at(*parsed, "data");
  if (!data) return overlay;
  auto note = [&overlay](std::string_view name, const json::value& value) {
    overlay.canonical += name;
    write_canonical(value, overlay.canonical);
  };
  if (const json::object* pools = object_at(*data, "pools")) {
    auto map = routing::parse_pool_map(json::serialize(*pools));
    if (!map) return std::unexpected(map.error());
    overlay.pools = std::make_shared<const routing::PoolMap>(*std::move(map));
    note("pools", *pools);
  }
  if (const json::object* timeouts = object_at(*data, "timeouts")) {
    auto file = parse_timeouts(json::serialize(*timeouts));
    if (!file) return std::unexpected(file.error());
    overlay.timeouts = *std::move(file);
    note("timeouts", *timeouts);
  }
  const json::object* scheduler = object_at(*data, "scheduler");
  const json::value* mode = scheduler ? scheduler->if_contains("input_fail_mode") : nullptr;
  if (mode && mode->is_string() && !mode->get_string().empty()) {
    overlay.fail_mode = fail_mode_of(mode->get_string());
    note("mode", *mode);
  }
  return overlay;
}

Result<std::optional<std::string>> merge_files(std::string_view document, const OverlayFiles& files,
                                               WallTime now) {
  json::object merged{{"scope", "system"}, {"scope_id", "default"}};
  if (!document.empty()) {
    Result<json::object> parsed = parse_document(document);
    if (!parsed) return std::unexpected(parsed.error());
    merged = *std::move(parsed);
  }
  json::object& data = data_of(merged);
  bool changed = false;
  if (files.pools) {
    const json::object pools = to_json(*files.pools);
    if (const std::string hash = hash_of(pools); !has_text(data, kPoolsHash, hash)) {
      if (!object_at(data, "pools")) data["pools"] = json::object();
      json::object& there = data["pools"].get_object();
      const bool pool = add_missing(there, pools, "pools");
      const bool topic = add_missing(there, pools, "topics");
      data[kPoolsHash] = hash;
      changed |= pool || topic;
    }
  }
  if (files.timeouts) {
    json::object timeouts = to_json(*files.timeouts);
    if (const std::string hash = hash_of(timeouts); !has_text(data, kTimeoutsHash, hash)) {
      changed |= !data.contains("timeouts") || !is_same(data["timeouts"], timeouts);
      data["timeouts"] = std::move(timeouts);
      data[kTimeoutsHash] = hash;
    }
  }
  if (!changed) return std::optional<std::string>{};
  const json::value* revision = merged.if_contains("revision");
  merged["revision"] = (revision && revision->is_int64() ? revision->get_int64() : 0) + 1;
  merged["updated_at"] = rfc3339_seconds(now);
  return std::optional(json::serialize(merged));
}

}  // namespace fairlead::scheduler
