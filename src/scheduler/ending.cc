#include "scheduler/ending.h"

#include "base/limits.h"
#include "base/planted.h"
#include "base/text.h"
#include "job/request.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

std::string status_name(job::State state) {
  if (state == job::State::kOutputQuarantined) return "OUTPUT_QUARANTINED";
  return cap::JobStatus_Name(job::status_of(state));
}

bool may_be_with_a_worker(const job::Record& record) {
  return job::holds_worker_slot(record) || !record.open_epochs.empty();
}

store::Change ending_change(job::Record record, std::vector<job::State> path, Ending ending,
                            WallTime now) {
  store::Change change;
  job::State last = record.state;
  if (record.revision != Revision()) change.guard.revision = record.revision;
  record.state = ending.state;
  record.updated_at = now;
  record.due.reset();
  record.deadline.reset();
  record.wait.reset();
  record.publish_pending = false;
  record.reason = ending.reason;
  record.error_code = ending.code.empty() ? job::to_string(ending.reason) : ending.code;
  record.error_number = ending.number ? ending.number : job::error_code_of(record.error_code);
  record.error_message = cut(ending.message, limits::kReasonBytesMax);
  job::add_event(record, now, record.error_code);
  path.push_back(ending.state);
  change.path = std::move(path);

  if (ending.dead_letter && !planted(PlantedBug::kDeadLetterForgotten)) {
    store::DeadLetter entry{record.id,
                            record.topic,
                            record.tenant,
                            status_name(ending.state),
                            record.error_message,
                            record.error_code,
                            job::to_string(last),
                            record.attempts,
                            now};
    change.messages.push_back(dead_letter_message(record, now));
    change.dead_letter = std::move(entry);
  }
  *change.next = std::move(record);
  return change;
}

}  // namespace fairlead::scheduler
