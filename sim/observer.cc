#include "sim/observer.h"

#include <algorithm>

#include <fmt/core.h>

namespace fairlead::sim {

void Observer::violation(std::string what) {
  if (!violation_) violation_ = std::move(what);
}

void Observer::committed(const store::Snapshot& before, const store::Change& change) {
  const job::Record& next = change.next;
  const char* from = before ? job::to_string(before->state) : "none";
  for (job::State to : change.path) {
    ++transitions_[fmt::format("{} -> {}", from, job::to_string(to))];
    from = job::to_string(to);
  }
  if (!before) return;
  if (next.result_ptr.starts_with(kOldEpochLie) && next.result_ptr != before->result_ptr) {
    uint64_t named = std::stoull(next.result_ptr.substr(kOldEpochLie.size()));
    auto open = std::ranges::any_of(before->open_epochs, [&](const job::OpenEpoch& epoch) {
      return epoch.epoch.value() == named;
    });
    if (!open) violation(next.id.str() + " took a result of an epoch that is not its own");
  }
  if (job::is_terminal(before->state)) {
    violation(fmt::format("{} was {} and became {}", next.id.str(), job::to_string(before->state),
                          job::to_string(next.state)));
  }
  if (next.request_hash != before->request_hash) {
    violation(next.id.str() + " changed its content");
  }
  if (next.trace != before->trace) violation(next.id.str() + " lost its trace id");
  if (next.epoch < before->epoch) violation(next.id.str() + " went back to an old epoch");
  if (next.deadline && before->deadline && *next.deadline > *before->deadline) {
    violation(next.id.str() + " moved its deadline");
  }
}

void Observer::handed_out(const JobId& job, Epoch epoch, const WorkerId& worker,
                          const store::Snapshot& stored) {
  auto name = [&] { return fmt::format("epoch {} of {}", epoch.value(), job.str()); };
  if (!handed_out_[job].insert(epoch).second) violation(name() + " was handed out twice");
  if (!stored) return violation(name() + " was handed out and is in no record");
  if (stored->epoch < epoch) {
    return violation(name() + " was handed out before it was committed");
  }
  if (stored->epoch > epoch) {
    return violation(name() + " was handed out although a newer one is committed");
  }
  if (stored->assignee != worker) {
    return violation(name() + " was handed to " + worker.str() + ", which is not its assignee");
  }
  if (denied_.contains(stored->topic)) violation(job.str() + " was denied and handed out");
}

}  // namespace fairlead::sim
