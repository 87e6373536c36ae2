// From what a job says to the pools and workers that may have it (RT-1..RT-6, RT-14).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "job/reason.h"
#include "routing/found_views.h"
#include "routing/hint.h"
#include "routing/labels.h"
#include "routing/pool_map.h"

namespace fairlead::routing {

struct RouteQuery {
  Topic topic;
  std::vector<std::string> requires_;
  // All of the job's labels; may be nullptr.
  const Labels* labels = nullptr;
  // Some worker takes jobs of some topics only: then those of different topics wait for different
  // workers.
  bool topics_matter = false;
};

struct Route {
  // The eligible pools in the topic's order; at least one.
  std::vector<PoolName> pools;
  Labels placement;
  Topic topic;
  // The hints, "" when not given. A preferred pool is then the only one of `pools`.
  std::string preferred_worker;
  std::string preferred_pool;
  // See wait_class.h.
  std::string wait_class;
  // Not part of what the route says.
  mutable FoundViews found;
};

// The job cannot be placed, whatever workers there are.
struct Refusal {
  // kNoPoolMapping; kDispatchFailed when there is no topic.
  job::ReasonCode code = job::ReasonCode::kNoPoolMapping;
  std::string detail;
  // The preferred pool, when the job asked for one.
  std::optional<HintOutcome> hint;
};

std::expected<Route, Refusal> resolve(const PoolMap& map, const RouteQuery& query);

// Whether one pool of the topic is eligible, and the first reason why not.
enum class PoolFit { kEligible, kNotPreferred, kDraining, kInactive, kLacksCapability };

// `needs` are normalised (base/text.h); `preferred` is "" when the job names none.
PoolFit fit_of(const Pool& pool, const std::vector<std::string>& needs,
               const std::string& preferred);

}  // namespace fairlead::routing
