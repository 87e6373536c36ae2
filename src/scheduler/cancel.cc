#include "scheduler/cancel.h"

#include "base/text.h"
#include "scheduler/ending.h"
#include "scheduler/packets.h"
#include "scheduler/poison.h"

namespace fairlead::scheduler {

using job::State;

Task<bus::Verdict> Cancel::handle(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet) co_return co_await poison(replica_, delivery, packet.error());
  if (!(*packet)->has_job_cancel()) co_return bus::Verdict::ack();
  JobId job(trim((*packet)->job_cancel().job_id()));
  if (job.empty() || job.str().size() > limits::kJobIdBytesMax) {
    replica_.metrics.add(Counter::kValidationRejections);
    co_return bus::Verdict::ack();
  }
  // Workers heard the first delivery, perhaps before they had the job.
  const bool told = delivery.deliveries == 1;
  Result<bool> cancelled =
      co_await cancel(job, (*packet)->job_cancel().reason(), delivery.queued, told);
  if (cancelled) co_return bus::Verdict::ack();
  if (cancelled.error().code == ErrorCode::kNotFound) {
    // A submit that is in the bus' hands and was not taken yet comes again within a second.
    if (delivery.deliveries >= limits::kCancelDeliveriesMax) co_return bus::Verdict::ack();
    co_return bus::Verdict::not_now(limits::kRetryStore, cancelled.error().message);
  }
  replica_.metrics.add(Counter::kJobCancelFailures);
  co_return bus::Verdict::not_now(limits::kRetryStore, cancelled.error().message);
}

Task<Result<bool>> Cancel::cancel(JobId job, std::string reason, std::optional<Sequence> consumed,
                                  bool told) {
  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    Result<store::Loaded> loaded = co_await replica_.store.load(job, {});
    if (!loaded) co_return std::unexpected(loaded.error());
    if (!loaded->record) {
      co_return fail(ErrorCode::kNotFound, "there is no job " + job.str());
    }
    if (job::is_terminal(loaded->record->state)) co_return false;
    const job::Record& record = *loaded->record;
    const WallTime now = replica_.clock.wall();
    Ending ending{State::kCancelled, job::ReasonCode::kCancelled, {}, reason, false};
    store::Change change = ending_change(record, {}, std::move(ending), now);
    if (!told && may_be_with_a_worker(record)) {
      change.messages.push_back(cancel_message(job, reason, now));
    }
    change.consumed = consumed;
    Result<store::Receipt> receipt = co_await commits_.commit_ending(std::move(change));
    if (!receipt) co_return std::unexpected(receipt.error());
    if (std::holds_alternative<store::Applied>(*receipt)) co_return true;
    if (!std::holds_alternative<store::Conflict>(*receipt)) co_return false;
  }
  co_return fail(ErrorCode::kUnavailable, "the record keeps changing");
}

}  // namespace fairlead::scheduler
