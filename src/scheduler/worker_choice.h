// The worker for a job on its walk: picked until the pick is alive (STALE-1..STALE-5).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "routing/placement.h"
#include "scheduler/replica.h"
#include "scheduler/walker.h"

namespace fairlead::scheduler {

struct Placed {
  WorkerId worker;
  std::string subject;
  int32_t capacity = 0;
  std::vector<routing::HintOutcome> hints;  // what became of those that the job gave
};

// Its assignee may have it already, lives, and can tell a repeat.
bool repeats(const Replica& replica, const Walker& walker);

class WorkerChoice {
 public:
  explicit WorkerChoice(Replica& replica) : replica_(replica) {}

  // A job that repeats goes to its assignee, unless that is excluded. Adds the stale ones that it
  // met to `excluded`, and their number to `stale`.
  std::expected<Placed, routing::NotPlaced> pick(const Walker& walker, const routing::Route& route,
                                                 std::vector<WorkerId>& excluded, int& stale) {
    return choose(walker, route, excluded, stale, Telling::kAloud);
  }
  // What `pick` would say of a job that has to queue anyway: nothing is logged or counted.
  std::optional<routing::NotPlaced> obstacle(const Walker& walker, const routing::Route& route);

  // Once for a dispatch, and for a job that has no route.
  void count_hints(const std::vector<routing::HintOutcome>& hints);

 private:
  enum class Telling { kAloud, kSilently };

  std::expected<Placed, routing::NotPlaced> choose(const Walker& walker,
                                                   const routing::Route& route,
                                                   std::vector<WorkerId>& excluded, int& stale,
                                                   Telling telling);
  void tell_stale(const job::Record& record, const WorkerId& worker, int stale);
  void tell_why_excluded(std::vector<routing::HintOutcome>& hints) const;

  Replica& replica_;
};

}  // namespace fairlead::scheduler
