#include "routing/route.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "routing/wait_class.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;

void read_labels(const Labels& labels, Route& route) {
  for (const auto& label : labels) {
    if (is_placement_label(label.first)) {
      route.placement.insert(route.placement.end(), label);
    } else if (label.first == kPreferredWorker) {
      route.preferred_worker = label.second;
    } else if (label.first == kPreferredPool) {
      route.preferred_pool = label.second;
    }
  }
}

std::unexpected<Refusal> refused(std::string detail, const Route& route, const char* cause) {
  Refusal refusal{.code = ReasonCode::kNoPoolMapping, .detail = std::move(detail)};
  if (!route.preferred_pool.empty()) {
    refusal.hint = {kPreferredPool, route.preferred_pool, false, cause};
  }
  return std::unexpected(std::move(refusal));
}

// Why none of the topic's pools is eligible.
std::string nothing_eligible(const PoolMap& map, const Topic& topic,
                             const std::vector<PoolName>& pools,
                             const std::vector<std::string>& needs, const std::string& preferred) {
  std::string detail = fmt::format("no pool mapping for topic \"{}\"", topic.str());
  const char* separator = ": ";
  for (const PoolName& name : pools) {
    const Pool& pool = *map.find(name);
    switch (fit_of(pool, needs, preferred)) {
      case PoolFit::kEligible:
      case PoolFit::kNotPreferred:
        break;
      case PoolFit::kDraining:
      case PoolFit::kInactive:
        detail += fmt::format("{}pool \"{}\" is {}", std::exchange(separator, ", "), name.str(),
                              to_string(pool.status));
        break;
      case PoolFit::kLacksCapability:
        return fmt::format("no pool satisfies requires {} for topic \"{}\"", join(needs, ", "),
                           topic.str());
    }
  }
  return detail;
}

std::string wait_class_of(const Route& route, const Topic& topic) {
  if (std::ranges::is_sorted(route.pools)) {
    return wait_class_text(route.pools, route.placement, topic);
  }
  std::vector<PoolName> pools = route.pools;
  std::ranges::sort(pools);
  return wait_class_text(pools, route.placement, topic);
}

}  // namespace

PoolFit fit_of(const Pool& pool, const std::vector<std::string>& needs,
               const std::string& preferred) {
  if (!preferred.empty() && pool.name.str() != preferred) return PoolFit::kNotPreferred;
  if (pool.status == PoolStatus::kDraining) return PoolFit::kDraining;
  if (pool.status == PoolStatus::kInactive) return PoolFit::kInactive;
  if (!std::ranges::includes(pool.capabilities, needs)) return PoolFit::kLacksCapability;
  return PoolFit::kEligible;
}

std::expected<Route, Refusal> resolve(const PoolMap& map, const RouteQuery& query) {
  Topic topic(trim(query.topic.str()));
  if (topic.empty()) {
    return std::unexpected(Refusal{.code = ReasonCode::kDispatchFailed, .detail = "missing topic"});
  }

  std::expected<Route, Refusal> resolved;
  Route& route = *resolved;
  if (query.labels) read_labels(*query.labels, route);
  static const std::vector<PoolName> kNoPools;
  const std::vector<PoolName>* known = map.pools_of(topic);
  const std::vector<PoolName>& mapped = known ? *known : kNoPools;
  if (!route.preferred_pool.empty() &&
      std::ranges::find(mapped, route.preferred_pool, &PoolName::str) == mapped.end()) {
    return refused(fmt::format("preferred pool \"{}\" not mapped for topic \"{}\"",
                               route.preferred_pool, topic.str()),
                   route, "pool_not_mapped");
  }

  std::vector<std::string> needs = normalised(query.requires_);
  for (const PoolName& pool : mapped) {
    PoolFit fit = fit_of(*map.find(pool), needs, route.preferred_pool);
    if (fit == PoolFit::kEligible) route.pools.push_back(pool);
  }
  if (route.pools.empty()) {
    return refused(nothing_eligible(map, topic, mapped, needs, route.preferred_pool), route,
                   "pool_ineligible");
  }
  route.wait_class = wait_class_of(route, query.topics_matter ? topic : Topic());
  route.topic = std::move(topic);
  return resolved;
}

}  // namespace fairlead::routing
