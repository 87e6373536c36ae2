#include "job/record.h"

#include <utility>

#include "base/limits.h"

namespace fairlead::job {

bool holds_worker_slot(const Record& record) {
  return !is_waiting(record) &&
         (record.state == State::kDispatched || record.state == State::kRunning);
}

bool holds_tenant_slot(const Record& record) {
  return holds_worker_slot(record) || (!is_waiting(record) && record.state == State::kScheduled);
}

void add_event(Record& record, WallTime at, std::string note) {
  std::vector<Event>& history = record.history;
  if (history.size() >= limits::kHistoryEventsMax) history.erase(history.begin() + 1);
  if (note.size() > limits::kReasonBytesMax) note.resize(limits::kReasonBytesMax);
  history.push_back({at, record.state, record.epoch, std::move(note)});
}

}  // namespace fairlead::job
