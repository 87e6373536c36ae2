#include "scheduler/worker_choice.h"

#include "routing/placement.h"

namespace fairlead::scheduler {

using job::ReasonCode;

bool repeats(const Replica& replica, const Walker& walker) {
  return walker.same_worker &&
         replica.registry.alive(walker.record.assignee, replica.clock.monotonic());
}

std::optional<routing::NotPlaced> WorkerChoice::obstacle(const Walker& walker,
                                                         const routing::Route& route) {
  std::vector<WorkerId> excluded;
  int stale = 0;
  auto placed = choose(walker, route, excluded, stale, Telling::kSilently);
  return placed ? std::nullopt : std::optional(std::move(placed.error()));
}

std::expected<Placed, routing::NotPlaced> WorkerChoice::choose(const Walker& walker,
                                                               const routing::Route& route,
                                                               std::vector<WorkerId>& excluded,
                                                               int& stale, Telling telling) {
  MonotonicTime now = replica_.clock.monotonic();
  const job::Record& record = walker.record;
  if (excluded.empty() && repeats(replica_, walker)) {
    return Placed{record.assignee,
                  routing::direct_subject(record.assignee),
                  replica_.registry.find(record.assignee)->report.max_parallel_jobs,
                  {}};
  }
  std::vector<routing::HintOutcome> hints;
  while (true) {
    hints.clear();
    auto picked = routing::pick(replica_.registry, route, excluded, &hints);
    if (!picked) {
      if (stale > 0) {
        return std::unexpected(
            routing::NotPlaced{ReasonCode::kStaleWorker, "stale worker " + excluded.back().str()});
      }
      return std::unexpected(picked.error());
    }
    if (replica_.registry.alive(picked->worker, now)) {
      tell_why_excluded(hints);
      if (picked->by_hint && telling == Telling::kAloud) {
        replica_.log.info("strategy pick preferred worker",
                          {{"job_id", record.id.str()}, {"worker_id", picked->worker.str()}});
      }
      const routing::WorkerView* view = replica_.registry.find(picked->worker);
      return Placed{picked->worker, std::move(picked->subject), view->report.max_parallel_jobs,
                    std::move(hints)};
    }
    ++stale;
    if (telling == Telling::kAloud) tell_stale(record, picked->worker, stale);
    excluded.push_back(picked->worker);
    if (stale >= replica_.settings.stale_picks_max) {
      return std::unexpected(
          routing::NotPlaced{ReasonCode::kStaleWorker, "stale worker " + picked->worker.str()});
    }
  }
}

void WorkerChoice::tell_stale(const job::Record& record, const WorkerId& worker, int stale) {
  replica_.metrics.add(Counter::kStaleWorkerRetry, replica_.label_of(record.topic), worker.str());
  replica_.log.warning("stale worker detected, retrying dispatch",
                       {{"job_id", record.id.str()},
                        {"worker_id", worker.str()},
                        {"attempt", std::to_string(stale)},
                        {"topic", record.topic.str()}});
}

// A preferred worker that was tried in vain was stale, or full by the store's word.
void WorkerChoice::tell_why_excluded(std::vector<routing::HintOutcome>& hints) const {
  for (routing::HintOutcome& hint : hints) {
    if (hint.cause != routing::kExcluded) continue;
    bool alive = replica_.registry.alive(WorkerId(hint.value), replica_.clock.monotonic());
    hint.cause = alive ? "overloaded" : "stale";
  }
}

void WorkerChoice::count_hints(const std::vector<routing::HintOutcome>& hints) {
  for (const routing::HintOutcome& hint : hints) {
    if (hint.accepted) {
      replica_.metrics.add(Counter::kHintUsed, hint.hint);
    } else {
      replica_.metrics.add(Counter::kHintRejected, hint.hint, hint.cause);
    }
  }
}

}  // namespace fairlead::scheduler
