#include "job/record.h"

#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::job {

bool holds_worker_slot(const Record& record) {
  return !is_waiting(record) &&
         (record.state == State::kDispatched || record.state == State::kRunning);
}

bool holds_tenant_slot(const Record& record) {
  return holds_worker_slot(record) || (!is_waiting(record) && record.state == State::kScheduled);
}

void open_epoch(Record& record) {
  std::vector<OpenEpoch>& open = record.open_epochs;
  open.push_back({record.epoch, record.assignee});
  if (open.size() > limits::kOpenEpochsMax) open.erase(open.begin());
}

void take_decision(Record& record, Decision decision, WallTime now) {
  decision.checked_at = record.decision.checked_at;
  const bool first = record.decision.kind == Decision::Kind::kNone;
  if (!first && decision != record.decision) {
    std::vector<Decision>& past = record.past_decisions;
    if (past.size() >= limits::kPastDecisionsMax) past.erase(past.begin());
    past.push_back(std::move(record.decision));
  }
  record.decision = std::move(decision);
  record.decision.checked_at = now;
}

void add_event(Record& record, WallTime at, std::string note) {
  std::vector<Event>& history = record.history;
  if (history.size() >= limits::kHistoryEventsMax) history.erase(history.begin() + 1);
  if (note.size() > limits::kReasonBytesMax) note = cut(note, limits::kReasonBytesMax);
  history.push_back({at, record.state, record.epoch, std::move(note)});
}

}  // namespace fairlead::job
