#include "routing/placement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;

constexpr std::string_view kSubjectPrefix = "worker.";
constexpr std::string_view kSubjectSuffix = ".jobs";

// Why the preferred worker cannot have the job; "" when it can.
const char* obstacle(const WorkerRegistry& registry, const Route& route, const WorkerId& worker,
                     std::span<const WorkerId> excluded) {
  const WorkerView* view = registry.find(worker);
  if (view == nullptr) return "not_found";
  if (std::ranges::find(excluded, worker) != excluded.end()) return kExcluded;
  if (std::ranges::find(route.pools, view->report.pool) == route.pools.end()) {
    return "pool_ineligible";
  }
  if (first_mismatch(view->report.labels, route.placement)) return "label_mismatch";
  if (!is_ready_for(view->report, route.topic)) return "not_ready";
  return view->overloaded ? "overloaded" : "";
}

NotPlaced not_placed(const WorkerRegistry& registry, const Route& route, size_t matching) {
  std::vector<std::string> pools;
  for (const PoolName& pool : route.pools) pools.push_back(pool.str());
  std::vector<std::string> labels;
  for (const auto& [name, value] : route.placement) labels.push_back(name + "=" + value);

  std::string where = fmt::format("pool \"{}\"", join(pools, ","));
  if (!labels.empty()) where += " with " + join(labels, ", ");
  if (registry.topics_matter()) where += " for " + route.topic.str();
  if (matching == 0) return {ReasonCode::kNoWorkers, "no workers in " + where};
  return {ReasonCode::kPoolOverloaded,
          fmt::format("all {} workers in {} are overloaded", matching, where)};
}

Pick picked(WorkerId worker, bool by_hint) {
  std::string subject = direct_subject(worker);
  return {.worker = std::move(worker), .subject = std::move(subject), .by_hint = by_hint};
}

}  // namespace

std::expected<Pick, NotPlaced> pick(const WorkerRegistry& registry, const Route& route,
                                    std::span<const WorkerId> excluded,
                                    std::vector<HintOutcome>* hints) {
  if (hints && !route.preferred_pool.empty()) {
    hints->push_back({kPreferredPool, route.preferred_pool, true, ""});
  }
  if (!route.preferred_worker.empty()) {
    WorkerId preferred(route.preferred_worker);
    std::string cause = obstacle(registry, route, preferred, excluded);
    if (hints) hints->push_back({kPreferredWorker, route.preferred_worker, cause.empty(), cause});
    if (cause.empty()) return picked(std::move(preferred), true);
  }

  auto candidates = registry.candidates(route, excluded);
  if (candidates.best) return picked(candidates.best->id, false);
  if (const WorkerReport* last = registry.last_resort(route, excluded)) {
    return picked(last->id, false);
  }
  return std::unexpected(not_placed(registry, route, candidates.matching));
}

std::string direct_subject(const WorkerId& worker) {
  std::string subject;
  subject.reserve(kSubjectPrefix.size() + worker.str().size() + kSubjectSuffix.size());
  subject += kSubjectPrefix;
  subject += worker.str();
  subject += kSubjectSuffix;
  return subject;
}

std::string_view worker_of_subject(std::string_view subject) {
  if (!subject.starts_with(kSubjectPrefix)) return {};
  subject.remove_prefix(kSubjectPrefix.size());
  if (!subject.ends_with(kSubjectSuffix)) return {};
  subject.remove_suffix(kSubjectSuffix.size());
  return validate(WorkerId(subject)) ? subject : std::string_view{};
}

}  // namespace fairlead::routing
