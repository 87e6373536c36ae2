#include "sim/observer.h"

#include <algorithm>

#include <fmt/core.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "scheduler/ending.h"

namespace fairlead::sim {

namespace {

// From the making of a change to its commit: a replica may be paused in between.
constexpr Duration kCommitDelayMax = std::chrono::seconds(90);

}  // namespace

void Observer::violation(std::string what) {
  if (!violation_) violation_ = std::move(what);
}

void Observer::committed(const store::Snapshot& before, const store::Change& change) {
  const job::Record& next = *change.next;
  const char* from = before ? job::to_string(before->state) : "none";
  for (job::State to : change.path) {
    ++transitions_[fmt::format("{} -> {}", from, job::to_string(to))];
    from = job::to_string(to);
  }
  if (std::optional<WallTime> now = store_time();
      now && std::chrono::abs(next.updated_at - *now) > kCommitDelayMax) {
    violation(next.id.str() + " was written with a time that is not the store's");
  }
  if (next.state == job::State::kDispatched) committed_[{next.id, next.epoch}] = rewound_;
  if (auto limit = limited_.find(next.topic);
      limit != limited_.end() && next.deliveries > limit->second) {
    violation(fmt::format("{} was handed out {} times, {} are allowed", next.id.str(),
                          next.deliveries, limit->second));
  }
  if (!before) {
    if (!submitted_.contains(next.id)) violation(next.id.str() + " was made and nobody sent it");
    return check_key(next);
  }
  if (next.result_ptr != before->result_ptr) check_lies(*before, next);
  check_slot(*before, next);
  // Half an hour of tries never passes in a run.
  if (next.error_message.starts_with("max scheduling retries exceeded")) {
    violation(fmt::format("{} was given up: {}", next.id.str(), next.error_message));
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

void Observer::check_key(const job::Record& admitted) {
  if (admitted.idempotency_key.empty()) return;
  auto [key, fresh] = keys_.try_emplace({admitted.tenant, admitted.idempotency_key}, admitted.id);
  if (fresh) return;
  violation(fmt::format("{} was admitted with the idempotency key of {}", admitted.id.str(),
                        key->second.str()));
}

// A dispatch that its worker may have keeps its slot, unless the worker is gone.
void Observer::check_slot(const job::Record& before, const job::Record& next) {
  bool gave_up = before.publish_pending && job::holds_worker_slot(before) &&
                 !job::holds_worker_slot(next) && !job::is_terminal(next.state) &&
                 next.state != job::State::kRetrying;
  const job::OpenEpoch epoch{before.epoch, before.assignee};
  bool may_be_out = std::ranges::find(next.open_epochs, epoch) != next.open_epochs.end();
  if (gave_up && may_be_out && surely_lives(before.assignee)) {
    violation(fmt::format("{} gave up its slot although {} may have it", next.id.str(),
                          before.assignee.str()));
  }
}

void Observer::check_lies(const job::Record& before, const job::Record& next) {
  if (next.result_ptr.starts_with(kOldEpochLie)) {
    uint64_t named = std::stoull(next.result_ptr.substr(kOldEpochLie.size()));
    auto open = std::ranges::any_of(before.open_epochs, [&](const job::OpenEpoch& epoch) {
      return epoch.epoch.value() == named;
    });
    // The store may have gone back to the one that was named.
    open = open || (store_was_rewound() && before.epoch.value() == named);
    if (!open) violation(next.id.str() + " took a result of an epoch that is not its own");
  }
  if (next.result_ptr == kWrongWorkerLie && surely_lives(before.assignee)) {
    violation(fmt::format("{} took a result that is not of {}, which has it and lives",
                          next.id.str(), before.assignee.str()));
  }
}

void Observer::answered(const std::string& bytes, const store::Snapshot& stored) {
  cordum::agent::v1::BusPacket packet;
  packet.ParseFromString(bytes);
  // What it changed may have been lost since.
  if (!stored || store_was_rewound() || !packet.trace_id().starts_with(kTruth)) return;
  const cordum::agent::v1::JobResult& result = packet.job_result();
  const uint64_t epoch = std::stoull(packet.trace_id().substr(kTruth.size()));
  bool out = stored->state == job::State::kDispatched || stored->state == job::State::kRunning;
  if (out && stored->epoch.value() == epoch && stored->assignee.str() == result.worker_id()) {
    violation(fmt::format("the result of {} for epoch {} of {} was dropped", result.worker_id(),
                          epoch, stored->id.str()));
  }
}

void Observer::handed_out(const JobId& job, Epoch epoch, const WorkerId& worker,
                          const store::Snapshot& stored) {
  auto name = [&] { return fmt::format("epoch {} of {}", epoch.value(), job.str()); };
  if (!handed_out_[job].insert(epoch).second) violation(name() + " was handed out twice");
  auto committed = committed_.find({job, epoch});
  if (committed != committed_.end() && committed->second < rewound_) return;  // and lost since
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
  if (needs_approval_.contains(stored->topic) && !(stored->approval && approved_.contains(job))) {
    violation(name() + " needs an approval that nobody gave and was handed out");
  }
  if (auto why = withheld_.find(stored->topic); why != withheld_.end()) {
    violation(fmt::format("{} {} and was handed out", job.str(), why->second));
  }
}

void Observer::store_rewound(const std::set<JobId>& lost) {
  ++rewound_;
  lost_.insert(lost.begin(), lost.end());
  std::erase_if(keys_, [&](const auto& key) { return lost.contains(key.second); });
}

namespace {

// Of cancelled jobs only those that their worker cancelled have one.
bool needs_dead_letter(job::State state) {
  return state == job::State::kFailed || state == job::State::kTimeout ||
         state == job::State::kDenied;
}

}  // namespace

void Observer::ended(const job::Record& record, const std::optional<store::DeadLetter>& letter) {
  if (!needs_dead_letter(record.state)) return;
  const std::string job = fmt::format("{} is {}", record.id.str(), job::to_string(record.state));
  if (!letter) return violation(job + " and has no dead letter");
  // A result may have come for a job that the store had lost, and its letter last.
  const bool of_lost_job =
      store_was_rewound() && letter->reason_code == job::to_string(job::ReasonCode::kUnknownJob);
  if (!of_lost_job && letter->status != scheduler::status_name(record.state)) {
    return violation(fmt::format("{} and its dead letter says {}", job, letter->status));
  }
  if (!dead_letters_told_.contains(record.id)) {
    violation(job + " and the bus was never told of its dead letter");
  }
}

}  // namespace fairlead::sim
