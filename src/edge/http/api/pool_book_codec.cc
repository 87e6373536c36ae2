#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/api/fields.h"
#include "edge/http/api/pool_book.h"

namespace fairlead::http {

namespace {

constexpr size_t kListMax = 1000;
constexpr size_t kTextMax = 4096;

json::array list_of(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

json::value to_json(const std::optional<TopicEntry>& topic) {
  if (!topic) return nullptr;
  return {{"pools", list_of(topic->pools)},
          {"input_schema_id", topic->input_schema_id},
          {"output_schema_id", topic->output_schema_id},
          {"pack_id", topic->pack_id},
          {"requires", list_of(topic->requires_)},
          {"risk_tags", list_of(topic->risk_tags)},
          {"enabled", topic->enabled}};
}

json::value to_json(const std::optional<PoolEntry>& pool) {
  if (!pool) return nullptr;
  json::object object{{"requires", list_of(pool->requires_)},
                      {"description", pool->description},
                      {"status", static_cast<int64_t>(pool->status)},
                      {"drain_seconds", pool->drain_seconds}};
  if (pool->drain_started_at) object["drain_started_at"] = to_micros(*pool->drain_started_at);
  return object;
}

void read(Fields& fields, TopicEntry& topic) {
  topic.pools = fields.texts("pools", kListMax, kTextMax);
  topic.input_schema_id = fields.text("input_schema_id", kTextMax);
  topic.output_schema_id = fields.text("output_schema_id", kTextMax);
  topic.pack_id = fields.text("pack_id", kTextMax);
  topic.requires_ = fields.texts("requires", kListMax, kTextMax);
  topic.risk_tags = fields.texts("risk_tags", kListMax, kTextMax);
  topic.enabled = fields.flag("enabled", true);
}

void read(Fields& fields, PoolEntry& pool) {
  pool.requires_ = fields.texts("requires", kListMax, kTextMax);
  pool.description = fields.text("description", kTextMax);
  pool.status = static_cast<routing::PoolStatus>(
      fields.number("status", 0, static_cast<int64_t>(routing::PoolStatus::kInactive)).value_or(0));
  pool.drain_seconds = fields.number("drain_seconds").value_or(0);
  if (auto at = fields.number("drain_started_at")) {
    pool.drain_started_at = wall_time_from_micros(*at);
  }
}

template <class Entry>
bool read_section(const json::value* section, std::map<std::string, std::optional<Entry>>& into) {
  const json::object* entries = section ? section->if_object() : nullptr;
  if (!entries) return false;
  for (const auto& [name, value] : *entries) {
    std::optional<Entry>& entry = into[std::string(name)];
    if (value.is_null()) continue;
    Fields fields(value, Fields::Unknown::kTolerated);
    read(fields, entry.emplace());
    if (fields.problem()) return false;
  }
  return true;
}

}  // namespace

std::string encode(const PoolChanges& changes) {
  json::object topics, pools;
  for (const auto& [name, topic] : changes.topics) topics[name] = to_json(topic);
  for (const auto& [name, pool] : changes.pools) pools[name] = to_json(pool);
  return json::serialize(json::object{{"topics", std::move(topics)}, {"pools", std::move(pools)}});
}

Result<PoolChanges> decode_pool_changes(std::string_view text) {
  auto value = parse_json(text);
  const json::object* object = value ? value->if_object() : nullptr;
  PoolChanges changes;
  if (!object || !read_section(object->if_contains("topics"), changes.topics) ||
      !read_section(object->if_contains("pools"), changes.pools)) {
    return fail(ErrorCode::kCorrupt, "the stored topics and pools make no sense");
  }
  return changes;
}

}  // namespace fairlead::http
