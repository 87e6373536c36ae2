#include "routing/remembered_routes.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/limits.h"

namespace fairlead::routing {

namespace {

// With its length before it, so that no two lists of texts make the same key.
void append_text(std::string& key, std::string_view text) {
  auto size = static_cast<uint32_t>(text.size());
  key.append(reinterpret_cast<const char*>(&size), sizeof size);
  key += text;
}

}  // namespace

RememberedRoutes::Answer RememberedRoutes::resolve(const std::shared_ptr<const PoolMap>& map,
                                                   const RouteQuery& query) {
  if (map != map_) {
    routes_.clear();
    map_ = map;
  }
  bool remember = make_key(query);
  if (remember) {
    if (auto known = routes_.find(key_); known != routes_.end()) return known->second;
  }

  auto resolved = routing::resolve(*map, query);
  // Not remembered: a job that is refused ends.
  if (!resolved) return std::unexpected(std::move(resolved).error());
  auto route = std::make_shared<const Route>(*std::move(resolved));
  if (remember) {
    // All at once: the kinds of jobs that are in use are soon there again.
    if (routes_.size() >= limits::kRoutesRememberedMax) routes_.clear();
    routes_.emplace(key_, route);
  }
  return route;
}

bool RememberedRoutes::make_key(const RouteQuery& query) {
  constexpr std::string_view kWorkerHint = kPreferredWorker;
  constexpr std::string_view kPoolHint = kPreferredPool;
  key_.clear();
  key_ += query.topics_matter ? '1' : '0';
  append_text(key_, query.topic.str());
  for (const std::string& need : query.requires_) append_text(key_, need);
  // Ends the needs: no length of a text.
  key_.append(sizeof(uint32_t), '\xff');
  if (query.labels) {
    for (const auto& [name, value] : *query.labels) {
      // There would be as many routes as there are workers.
      if (name == kWorkerHint && !value.empty()) return false;
      if (!is_placement_label(name) && name != kPoolHint) continue;
      append_text(key_, name);
      append_text(key_, value);
      if (key_.size() > limits::kRouteKeyBytesMax) return false;
    }
  }
  return key_.size() <= limits::kRouteKeyBytesMax;
}

}  // namespace fairlead::routing
