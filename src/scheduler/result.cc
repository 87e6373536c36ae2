#include "scheduler/result.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/planted.h"
#include "base/text.h"
#include "job/backoff.h"
#include "job/constraints.h"
#include "job/request.h"
#include "scheduler/ending.h"
#include "scheduler/packets.h"
#include "scheduler/poison.h"

namespace fairlead::scheduler {

using job::ReasonCode;
using job::State;

const char* to_string(ResultVerdict verdict) {
  switch (verdict) {
    case ResultVerdict::kTake:
      return "taken";
    case ResultVerdict::kTerminal:
      return "terminal";
    case ResultVerdict::kDuplicate:
      return "duplicate";
    case ResultVerdict::kNotDispatched:
      return "not_dispatched";
    case ResultVerdict::kOldEpoch:
      return "old_epoch";
    case ResultVerdict::kWrongWorker:
      return "wrong_worker";
  }
  return "";
}

ResultVerdict judge_result(const job::Record& record, const cap::JobResult& result,
                           const ResultFacts& facts) {
  if (job::is_terminal(record.state)) return ResultVerdict::kTerminal;
  if (facts.in_order && !facts.place.is_after(record.last_result)) return ResultVerdict::kDuplicate;
  if (record.epoch == Epoch()) return ResultVerdict::kNotDispatched;
  if (planted(PlantedBug::kRetriedResultDropped) && record.epoch > Epoch(1)) {
    return ResultVerdict::kOldEpoch;
  }

  bool out = record.state == State::kDispatched || record.state == State::kRunning;
  WorkerId worker(result.worker_id());
  if (result.has_dispatch() && result.dispatch().attempt() > 0) {
    Epoch epoch(result.dispatch().attempt());
    if (planted(PlantedBug::kOldEpochResultAccepted) && epoch <= record.epoch) {
      return ResultVerdict::kTake;
    }
    if (out && epoch == record.epoch) {
      bool fits = worker == record.assignee || !facts.assignee_may_live ||
                  planted(PlantedBug::kWrongWorkerTaken);
      return fits ? ResultVerdict::kTake : ResultVerdict::kWrongWorker;
    }
    bool open = std::ranges::any_of(record.open_epochs, [&](const job::OpenEpoch& earlier) {
      return earlier.epoch == epoch && earlier.worker == worker;
    });
    return open ? ResultVerdict::kTake : ResultVerdict::kOldEpoch;
  }

  bool open = std::ranges::any_of(
      record.open_epochs, [&](const job::OpenEpoch& earlier) { return earlier.worker == worker; });
  if (open) return ResultVerdict::kTake;
  if (!out) return ResultVerdict::kNotDispatched;
  if (worker != record.assignee && facts.assignee_may_live) return ResultVerdict::kWrongWorker;
  bool first = record.epoch == Epoch(1);
  bool old = !first && facts.in_order && !facts.place.is_after(record.results_seen);
  return old ? ResultVerdict::kOldEpoch : ResultVerdict::kTake;
}

// Of a result that is taken: it ends another run than the current one.
static bool is_of_earlier_epoch(const job::Record& record, const cap::JobResult& result) {
  if (result.has_dispatch() && result.dispatch().attempt() > 0) {
    return Epoch(result.dispatch().attempt()) != record.epoch;
  }
  WorkerId worker(result.worker_id());
  return worker != record.assignee &&
         std::ranges::any_of(record.open_epochs, [&](const job::OpenEpoch& earlier) {
           return earlier.worker == worker;
         });
}

// The run of an earlier epoch is over: no other result of it will count.
static void close_epoch(job::Record& record, const cap::JobResult& result) {
  bool named = result.has_dispatch() && result.dispatch().attempt() > 0;
  std::erase_if(record.open_epochs, [&](const job::OpenEpoch& earlier) {
    return earlier.worker.str() == result.worker_id() &&
           (!named || earlier.epoch.value() == result.dispatch().attempt());
  });
}

Task<bus::Verdict> Results::handle(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet) co_return co_await poison(replica_, delivery, packet.error());
  if (!(*packet)->has_job_result()) co_return bus::Verdict::ack();
  cap::JobResult& result = *(*packet)->mutable_job_result();
  if (std::string_view id = trim(result.job_id()); id.size() < result.job_id().size()) {
    result.set_job_id(std::string(id));
  }
  if (Result<void> valid = job::validate(result); !valid) {
    replica_.metrics.add(Counter::kValidationRejections);
    replica_.log.warning("job result rejected",
                         {{"job_id", result.job_id()}, {"error", valid.error().message}});
    co_return bus::Verdict::ack();
  }

  JobId job(result.job_id());
  const job::BusPlace place{delivery.sequence, delivery.stored_at};
  if (delivery.in_order && place.is_after(replica_.results_seen)) replica_.results_seen = place;
  bool ahead = true;
  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    Result<store::Loaded> loaded =
        co_await replica_.store.load(job, {.mark = delivery.in_flight_mark(), .ahead = ahead});
    if (!loaded) co_return co_await not_stored(replica_, delivery, std::move(loaded.error()));
    if (!loaded->record) co_return co_await handle_unknown(result);
    const job::Record& record = *loaded->record;
    // Other services do not say to whom they handed a job.
    const bool assignee_may_live =
        !record.assignee.empty() && replica_.presence.may_live(record.assignee);
    ResultVerdict verdict =
        judge_result(record, result, {place, delivery.in_order, assignee_may_live});
    if (verdict != ResultVerdict::kTake) {
      if (loaded->ahead) {
        // What may yet be undone by a crash is no reason to acknowledge the message.
        ahead = false;
        continue;
      }
      replica_.metrics.add(Counter::kResultsIgnored, to_string(verdict));
      co_return bus::Verdict::ack();
    }
    Result<store::Receipt> receipt = co_await commit_result(record, result, delivery);
    if (!receipt) {
      if (!result.result_ptr().empty()) replica_.metrics.add(Counter::kResultPtrWriteFailures);
      co_return co_await not_stored(replica_, delivery, std::move(receipt.error()));
    }
    if (std::holds_alternative<store::Conflict>(*receipt)) continue;
    if (!job::is_ending(result.status())) tell_no_ending(result);
    co_return bus::Verdict::ack();
  }
  co_return bus::Verdict::not_now(limits::kRetryBusy, "the record keeps changing");
}

void Results::tell_no_ending(const cap::JobResult& result) const {
  std::string status = cap::JobStatus_Name(result.status());
  if (status.empty()) status = std::to_string(result.status());
  replica_.log.error(
      "result with a status that is no ending",
      {{"job_id", result.job_id()}, {"worker_id", result.worker_id()}, {"status", status}});
}

// Kept for people to see; there is no job to change (H-44).
Task<bus::Verdict> Results::handle_unknown(const cap::JobResult& result) {
  replica_.metrics.add(Counter::kUnknownJobResults);
  store::DeadLetter entry;
  entry.job = JobId(result.job_id());
  entry.status = cap::JobStatus_Name(result.status());
  entry.reason =
      fmt::format("worker {} sent a result for a job that is not known", result.worker_id());
  entry.reason_code = job::to_string(ReasonCode::kUnknownJob);
  entry.created_at = replica_.clock.wall();
  Result<void> kept = co_await keep_first(replica_, std::move(entry));
  if (!kept) co_return bus::Verdict::not_now(limits::kRetryStore, kept.error().message);
  co_return bus::Verdict::ack();
}

Task<Result<store::Receipt>> Results::commit_result(const job::Record& record,
                                                    const cap::JobResult& result,
                                                    const bus::Delivery& delivery) {
  State state = job::state_of(result.status());
  if (state == State::kRetrying) return commit_retry(record, result, delivery);

  job::Record next = record;
  next.last_result = {delivery.sequence, delivery.stored_at};
  next.result_ptr = result.result_ptr();
  next.execution_ms = result.execution_ms();
  Ending ending;
  ending.state = state;
  ending.dead_letter = state != State::kSucceeded;
  if (ending.dead_letter) {
    ending.reason = ReasonCode::kWorkerReported;
    ending.code = result.error_code().substr(0, limits::kReasonBytesMax);
    ending.message = result.error_message();
    ending.number = result.error_code_enum();
  }
  store::Change change =
      ending_change(std::move(next), {}, std::move(ending), replica_.clock.wall());
  answer_with(change, delivery);
  if (job::holds_worker_slot(record) && is_of_earlier_epoch(record, result)) {
    // The worker of the current epoch works for nothing, or will when that reaches it.
    job::open_epoch(*change.next);
    change.messages.push_back(cancel_message(record.id, "an earlier dispatch of the job ended it",
                                             replica_.clock.wall()));
  }
  return commits_.commit_ending(std::move(change));
}

// The worker asks for another try: the scheduler owns it, with backoff, until max_retries (D-8).
Task<Result<store::Receipt>> Results::commit_retry(job::Record record, const cap::JobResult& result,
                                                   const bus::Delivery& delivery) {
  WallTime now = replica_.clock.wall();
  bool earlier = is_of_earlier_epoch(record, result);
  bool is_parked = record.state == State::kApprovalRequired;
  if (earlier || is_parked) close_epoch(record, result);
  if (is_parked || (earlier && job::holds_worker_slot(record))) {
    // The current epoch is that other try, and its result may have been stored before this one; or
    // a person has to approve the next.
    store::Change change;
    change.guard.revision = record.revision;
    answer_with(change, delivery);
    *change.next = std::move(record);
    change.next->updated_at = now;
    return commits_.commit(std::move(change));
  }
  job::Limits limits = job::limits_of(record.decision.constraints);
  record.last_result = {delivery.sequence, delivery.stored_at};
  bool by_policy = limits.max_retries > 0 && !planted(PlantedBug::kRetriesUnbounded) &&
                   record.deliveries >= static_cast<uint32_t>(limits.max_retries) + 1;
  if (by_policy || record.attempts >= limits::kSchedulingAttemptsMax) {
    std::string message =
        fmt::format("max retries exceeded (attempts={}, max_retries={}): {}", record.deliveries,
                    limits.max_retries, result.error_message());
    store::Change change = ending_change(
        std::move(record), {},
        {State::kFailed, ReasonCode::kMaxRetriesExceeded, {}, std::move(message)}, now);
    answer_with(change, delivery);
    return commits_.commit_ending(std::move(change));
  }

  store::Change change;
  change.guard.revision = record.revision;
  answer_with(change, delivery);
  change.claim_from = commits_.room_left_by(record);
  change.path = {State::kRetrying};
  *change.next = std::move(record);
  job::Record& next = *change.next;
  next.state = State::kRetrying;
  next.updated_at = now;
  next.publish_pending = false;
  next.approval.reset();
  next.due = now + job::backoff(next.attempts, replica_.jitter());
  next.wait = {
      ReasonCode::kWorkerRetry, result.error_message().substr(0, limits::kReasonBytesMax), {}, now};
  job::add_event(next, now, result.error_code());
  return commits_.commit(std::move(change));
}

}  // namespace fairlead::scheduler
