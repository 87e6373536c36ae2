#include "scheduler/progress.h"

#include "base/text.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

using job::State;

bool is_first_sign(const job::Record& record, const cap::JobProgress& progress,
                   const WorkerId& worker) {
  if (!job::holds_worker_slot(record) || record.first_sign_at) return false;
  bool named = progress.has_dispatch() && progress.dispatch().attempt() > 0;
  if (named && Epoch(progress.dispatch().attempt()) != record.epoch) return false;
  // What does not name its dispatch may be of an earlier one: it does not show that this arrived.
  if (!named && record.publish_pending && record.epoch != Epoch(1)) return false;
  return worker == record.assignee;
}

Task<bus::Verdict> Progress::handle(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet) {
    replica_.metrics.add(Counter::kUnmarshalFailures, delivery.subject, "invalid");
    co_return bus::Verdict::ack();
  }
  const cap::JobProgress& progress = (*packet)->job_progress();
  JobId job(trim(progress.job_id()));
  WorkerId worker((*packet)->sender_id());
  if (job.empty() || job.str().size() > limits::kJobIdBytesMax) co_return bus::Verdict::ack();

  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    Result<store::Loaded> loaded = co_await replica_.store.load(job, {});
    if (!loaded || !loaded->record) break;
    if (!is_first_sign(*loaded->record, progress, worker)) break;
    Result<store::Receipt> receipt = co_await commits_.commit(sign_change(*loaded->record));
    if (!receipt || !std::holds_alternative<store::Conflict>(*receipt)) break;
  }
  co_return bus::Verdict::ack();
}

store::Change Progress::sign_change(const job::Record& record) {
  WallTime now = replica_.clock.wall();
  store::Change change;
  change.guard.revision = record.revision;
  change.path = {State::kRunning};
  *change.next = record;
  job::Record& next = *change.next;
  if (next.state == State::kDispatched) {
    next.publish_pending = false;
    next.approval.reset();
    next.due = now + replica_.settings.timeouts_of(next.topic).running;
  }
  next.state = State::kRunning;
  next.updated_at = now;
  next.first_sign_at = now;
  job::add_event(next, now, "first sign from " + next.assignee.str());
  return change;
}

}  // namespace fairlead::scheduler
