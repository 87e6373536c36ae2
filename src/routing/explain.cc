#include "routing/explain.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace fairlead::routing {

namespace {

std::string why_not(const Pool& pool, PoolFit fit, const std::vector<std::string>& needs) {
  switch (fit) {
    case PoolFit::kEligible:
      return "";
    case PoolFit::kNotPreferred:
      return "not the preferred pool";
    case PoolFit::kDraining:
    case PoolFit::kInactive:
      return to_string(pool.status);
    case PoolFit::kLacksCapability:
      break;
  }
  std::vector<std::string> lacking;
  std::ranges::set_difference(needs, pool.capabilities, std::back_inserter(lacking));
  return "lacks " + join(lacking, ", ");
}

std::vector<ExplainedPool> explain_pools(const PoolMap& map, const RouteQuery& query) {
  std::vector<ExplainedPool> explained;
  const auto* pools = map.pools_of(Topic(trim(query.topic.str())));
  if (pools == nullptr) return explained;

  std::vector<std::string> needs = normalised(query.requires_);
  std::string preferred(query.labels ? value_of(*query.labels, kPreferredPool) : "");
  for (const PoolName& name : *pools) {
    const Pool& pool = *map.find(name);
    PoolFit fit = fit_of(pool, needs, preferred);
    explained.push_back({name, fit, why_not(pool, fit, needs)});
  }
  return explained;
}

std::string overload_cause(const WorkerView& worker) {
  const WorkerReport& report = worker.report;
  if (worker.refused) return "it could not be given a job since it was last heard";
  if (overloaded(worker.load, report.max_parallel_jobs, 0, 0)) {
    return fmt::format("load {} of {}", worker.load, report.max_parallel_jobs);
  }
  if (overloaded(0, 0, report.cpu_load, 0)) return fmt::format("cpu {}", report.cpu_load);
  return fmt::format("gpu {}", report.gpu_utilization);
}

std::vector<WorkerId> stale_workers(const WorkerRegistry& registry, MonotonicTime now) {
  std::vector<WorkerId> stale;
  registry.visit([&](const WorkerView& worker) {
    if (!registry.alive(worker.report.id, now)) stale.push_back(worker.report.id);
  });
  return stale;
}

struct Judged {
  WorkerVerdict verdict;
  const WorkerView* worker;

  // In the order of the explanation.
  bool operator<(const Judged& other) const {
    auto key = [](const Judged& judged) {
      const WorkerView& view = *judged.worker;
      return std::tuple(judged.verdict, view.score, view.held - view.ghosts, -view.free_slots);
    };
    auto mine = key(*this);
    auto others = key(other);
    return mine != others ? mine < others : worker->report.id < other.worker->report.id;
  }
};

class WorkerJudge {
 public:
  WorkerJudge(const WorkerRegistry& registry, const Explanation& explanation, MonotonicTime now)
      : registry_(registry),
        explanation_(explanation),
        chosen_(explanation.chosen ? registry.find(explanation.chosen->worker) : nullptr),
        now_(now) {}

  WorkerVerdict verdict(const WorkerView& worker) const {
    const WorkerReport& report = worker.report;
    if (&worker == chosen_) return WorkerVerdict::kChosen;
    if (std::ranges::find(explanation_.eligible, report.pool) == explanation_.eligible.end()) {
      const ExplainedPool* pool = pool_of(report);
      const bool lacks = pool && pool->fit == PoolFit::kLacksCapability;
      return lacks ? WorkerVerdict::kMissingCapability : WorkerVerdict::kOtherPool;
    }
    if (!registry_.alive(report.id, now_)) return WorkerVerdict::kStale;
    if (first_mismatch(report.labels, explanation_.placement)) return WorkerVerdict::kLabelMismatch;
    if (!is_ready_for(report, explanation_.topic)) return WorkerVerdict::kNotReady;
    return worker.overloaded ? WorkerVerdict::kOverloaded : WorkerVerdict::kHigherScore;
  }

  ExplainedWorker explain(const Judged& judged) const {
    const WorkerView& worker = *judged.worker;
    return {.worker = worker.report.id,
            .pool = worker.report.pool,
            .verdict = judged.verdict,
            .why = why(judged),
            .load = worker.load,
            .score = worker.score,
            .age = age_of(worker)};
  }

 private:
  Duration age_of(const WorkerView& worker) const { return now_ - worker.last_seen; }

  // Among those of the topic; nullptr: it serves others.
  const ExplainedPool* pool_of(const WorkerReport& report) const {
    auto found = std::ranges::find(explanation_.pools, report.pool, &ExplainedPool::pool);
    return found == explanation_.pools.end() ? nullptr : &*found;
  }

  std::string why(const Judged& judged) const {
    const WorkerView& worker = *judged.worker;
    switch (judged.verdict) {
      case WorkerVerdict::kChosen:
        if (explanation_.chosen->by_hint) return "preferred by the job";
        return worker.refused ? "the last resort: " + overload_cause(worker) : "lowest score";
      case WorkerVerdict::kHigherScore:
        return why_later(worker);
      case WorkerVerdict::kOverloaded:
        return overload_cause(worker);
      case WorkerVerdict::kLabelMismatch:
        return mismatch(worker);
      case WorkerVerdict::kNotReady:
        return "takes only " + join(worker.report.ready_topics, ", ");
      case WorkerVerdict::kStale:
        return fmt::format("last heard {} ms ago", age_of(worker) / std::chrono::milliseconds(1));
      case WorkerVerdict::kMissingCapability:
      case WorkerVerdict::kOtherPool:
        break;
    }
    const ExplainedPool* pool = pool_of(worker.report);
    return fmt::format("in pool \"{}\"{}", worker.report.pool.str(), pool ? ": " + pool->why : "");
  }

  std::string why_later(const WorkerView& worker) const {
    if (!explanation_.chosen) return "no worker was chosen";
    if (explanation_.chosen->by_hint) return "not the preferred worker";
    if (worker.score > chosen_->score) {
      return fmt::format("score {}, not {}", worker.score, chosen_->score);
    }
    int32_t in_flight = worker.held - worker.ghosts;
    int32_t best_in_flight = chosen_->held - chosen_->ghosts;
    if (in_flight > best_in_flight) {
      return fmt::format("same score, {} of our jobs in flight, not {}", in_flight, best_in_flight);
    }
    if (worker.free_slots < chosen_->free_slots) return "same score, less free capacity";
    return "same score, later id";
  }

  std::string mismatch(const WorkerView& worker) const {
    const auto& [name, wanted] = *first_mismatch(worker.report.labels, explanation_.placement);
    if (!worker.report.labels.contains(name)) {
      return fmt::format("{} is missing, not \"{}\"", name, wanted);
    }
    return fmt::format("{} is \"{}\", not \"{}\"", name, value_of(worker.report.labels, name),
                       wanted);
  }

  const WorkerRegistry& registry_;
  const Explanation& explanation_;
  const WorkerView* chosen_;
  MonotonicTime now_;
};

void explain_workers(const WorkerRegistry& registry, MonotonicTime now, size_t workers_max,
                     Explanation& explanation) {
  WorkerJudge judge(registry, explanation, now);
  std::vector<Judged> judged;
  registry.visit(
      [&](const WorkerView& worker) { judged.push_back({judge.verdict(worker), &worker}); });
  explanation.workers_total = judged.size();

  auto end = judged.begin() + static_cast<ptrdiff_t>(std::min(workers_max, judged.size()));
  std::partial_sort(judged.begin(), end, judged.end());
  for (auto it = judged.begin(); it != end; ++it) {
    explanation.workers.push_back(judge.explain(*it));
  }
}

}  // namespace

const char* to_string(WorkerVerdict verdict) {
  switch (verdict) {
    case WorkerVerdict::kChosen:
      return "chosen";
    case WorkerVerdict::kHigherScore:
      return "higher_score";
    case WorkerVerdict::kOverloaded:
      return "overloaded";
    case WorkerVerdict::kLabelMismatch:
      return "label_mismatch";
    case WorkerVerdict::kNotReady:
      return "not_ready";
    case WorkerVerdict::kStale:
      return "stale";
    case WorkerVerdict::kMissingCapability:
      return "missing_capability";
    case WorkerVerdict::kOtherPool:
      return "other_pool";
  }
  return "";
}

Explanation explain(const PoolMap& map, const WorkerRegistry& registry, const RouteQuery& query,
                    MonotonicTime now, size_t workers_max) {
  Explanation explanation;
  explanation.pools = explain_pools(map, query);
  explanation.workers_total = registry.size();
  auto route = resolve(map, query);
  if (!route) {
    explanation.code = route.error().code;
    explanation.detail = route.error().detail;
    if (route.error().hint) explanation.hints.push_back(*route.error().hint);
    explain_workers(registry, now, workers_max, explanation);
    return explanation;
  }
  explanation.eligible = route->pools;
  explanation.placement = route->placement;
  explanation.topic = route->topic;

  auto picked = pick(registry, *route, stale_workers(registry, now), &explanation.hints);
  for (HintOutcome& hint : explanation.hints) {
    if (hint.cause == kExcluded) hint.cause = "stale";
  }
  if (picked) {
    explanation.chosen = std::move(*picked);
  } else {
    explanation.code = picked.error().code;
    explanation.detail = picked.error().detail;
  }
  explain_workers(registry, now, workers_max, explanation);
  return explanation;
}

}  // namespace fairlead::routing
