// The pick of one worker for a job (RT-7..RT-12).
//
// A preferred worker is taken if it can take the job at all. Otherwise, of the workers in the
// eligible pools that carry the placement labels and are not overloaded: the lowest score, then
// the fewest of our own jobs in flight, then the most free capacity, then the id. When all of them
// refused a job since they were last heard, one of those nevertheless.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "job/reason.h"
#include "routing/hint.h"
#include "routing/registry.h"
#include "routing/route.h"

namespace fairlead::routing {

struct Pick {
  WorkerId worker;
  // Where its jobs are published.
  std::string subject;
  // It was the preferred worker.
  bool by_hint = false;
};

// Nobody can take the job now.
struct NotPlaced {
  // kPoolOverloaded when there are workers but none that is free, else kNoWorkers.
  job::ReasonCode code = job::ReasonCode::kNoWorkers;
  std::string detail;
};

// Does not look at the TTL: check the pick with `registry.alive` and, if it is stale, pick again
// with it among `excluded`, which stand for workers that are not there (STALE-3, H-28). Appends the
// outcome of each hint that the route carries to `hints`.
std::expected<Pick, NotPlaced> pick(const WorkerRegistry& registry, const Route& route,
                                    std::span<const WorkerId> excluded = {},
                                    std::vector<HintOutcome>* hints = nullptr);

// "worker.<id>.jobs". REQUIRES: a valid id.
std::string direct_subject(const WorkerId& worker);
// The id in such a subject; "" for any other (SUBJ-5). Points into `subject`.
std::string_view worker_of_subject(std::string_view subject);

}  // namespace fairlead::routing
