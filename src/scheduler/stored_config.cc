#include "scheduler/stored_config.h"

#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "base/limits.h"
#include "scheduler/overlay.h"

namespace fairlead::scheduler {

namespace {

namespace json = boost::json;

std::vector<std::string> keys_of(const ConfigScope& scope) {
  std::vector<std::string> keys = {kOverlayKey};
  auto add = [&](const char* kind, const std::string& id) {
    if (!id.empty()) keys.push_back(std::string("cfg:") + kind + ":" + id);
  };
  add("org", scope.tenant.str());
  add("team", scope.team);
  add("workflow", scope.workflow);
  add("step", scope.step);
  return keys;
}

// No deeper than the parser lets a document be.
void merge(json::object& into, const json::object& from) {
  for (const auto& [name, value] : from) {
    json::value& there = into[name];
    if (there.is_object() && value.is_object()) {
      merge(there.get_object(), value.get_object());
    } else {
      there = value;
    }
  }
}

}  // namespace

Task<Result<std::string>> StoredConfig::resolve(ConfigScope scope) {
  json::object merged;
  for (std::string& key : keys_of(scope)) {
    Result<Data> data = co_await data_of(std::move(key));
    if (!data) co_return std::unexpected(data.error());
    if (*data) merge(merged, **data);
  }
  if (merged.empty()) co_return std::string();
  co_return json::serialize(merged);
}

Task<Result<StoredConfig::Data>> StoredConfig::data_of(std::string key) {
  auto kept = kept_.find(key);
  if (kept != kept_.end() && clock_.monotonic() < kept->second.until) co_return kept->second.data;
  auto [waiting, first] = reading_.try_emplace(key);
  if (!first) co_return co_await waiting->second.emplace_back().future();
  Result<Data> data = co_await read(key);
  if (data) keep(key, *data);
  auto others = reading_.extract(key);
  for (auto& other : others.mapped()) other.complete(data);
  co_return data;
}

Task<Result<StoredConfig::Data>> StoredConfig::read(const std::string& key) {
  Result<std::optional<store::Blob>> blob = co_await store_.blob(key);
  if (!blob) co_return std::unexpected(blob.error());
  if (!*blob) co_return Data();
  boost::system::error_code wrong;
  json::value document = json::parse((*blob)->bytes, wrong);
  if (wrong || !document.is_object()) {
    co_return fail(ErrorCode::kInvalid, key + " is no JSON object");
  }
  json::value* said = document.get_object().if_contains("data");
  if (!said || !said->is_object()) co_return Data();
  co_return std::make_shared<const json::object>(std::move(said->get_object()));
}

void StoredConfig::keep(std::string key, Data data) {
  const MonotonicTime now = clock_.monotonic();
  if (kept_.size() >= limits::kConfigDocumentsKept) {
    std::erase_if(kept_, [now](const auto& entry) { return entry.second.until <= now; });
  }
  if (kept_.size() >= limits::kConfigDocumentsKept) return;
  kept_[std::move(key)] = {std::move(data), now + limits::kConfigDocumentTtl};
}

}  // namespace fairlead::scheduler
