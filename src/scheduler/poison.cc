#include "scheduler/poison.h"

#include <utility>

#include "job/request.h"
#include "scheduler/packets.h"

namespace fairlead::scheduler {

namespace {

Task<bus::Verdict> end_after_a_few(Replica& replica, const bus::Delivery& delivery,
                                   const Error& error) {
  if (delivery.deliveries <= limits::kPoisonDeliveriesMax) {
    co_return bus::Verdict::nak(limits::kPoisonRetry, error.message);
  }
  Result<void> buried = co_await bury(replica, delivery, error.message);
  if (!buried) co_return bus::Verdict::not_now(limits::kPoisonRetry, buried.error().message);
  co_return bus::Verdict::terminate(error.message);
}

}  // namespace

Task<bus::Verdict> poison(Replica& replica, const bus::Delivery& delivery, const Error& error) {
  replica.metrics.add(Counter::kUnmarshalFailures, delivery.subject,
                      unreadable_because(delivery.payload));
  co_return co_await end_after_a_few(replica, delivery, error);
}

Task<bus::Verdict> not_stored(Replica& replica, const bus::Delivery& delivery, Error error) {
  if (error.code != ErrorCode::kCorrupt) {
    co_return bus::Verdict::not_now(limits::kRetryStore, std::move(error.message));
  }
  co_return co_await end_after_a_few(replica, delivery, error);
}

namespace {

// Whether a dead letter may stand under this id without hiding what is known of the job.
Task<Result<bool>> is_free(Replica& replica, JobId job) {
  Result<store::Loaded> loaded = co_await replica.store.load(job, {});
  if (!loaded && loaded.error().code == ErrorCode::kCorrupt) co_return false;
  if (!loaded) co_return std::unexpected(loaded.error());
  if (loaded->record) co_return false;
  auto letter = co_await replica.store.dead_letter(job);
  if (!letter) co_return std::unexpected(letter.error());
  co_return !letter->has_value();
}

// The store has it first. There is no commit that a message could go with, so one that the bus does
// not take is not sent again (DLQ-1).
Task<Result<void>> put_and_tell(Replica& replica, store::DeadLetter entry) {
  store::Message message = dead_letter_message(entry);
  Result<void> kept = co_await replica.store.put_dead_letter(std::move(entry));
  if (kept) {
    (void)replica.bus.publish(std::move(message.subject), std::move(message.payload),
                              std::move(message.id));
  }
  co_return kept;
}

}  // namespace

Task<Result<void>> bury(Replica& replica, const bus::Delivery& delivery, std::string reason) {
  JobId named(job::peek_job_id(delivery.payload).substr(0, limits::kJobIdBytesMax));
  Result<bool> free = false;
  if (!named.empty()) free = co_await is_free(replica, named);
  if (!free) co_return std::unexpected(free.error());

  store::DeadLetter entry;
  entry.job =
      *free ? named : JobId(delivery.subject + "#" + std::to_string(delivery.sequence.value()));
  entry.status = "JOB_STATUS_FAILED";
  entry.reason = delivery.subject + ": " + reason;
  if (!*free && !named.empty()) entry.reason += " (it names job " + named.str() + ")";
  entry.reason_code = job::to_string(job::ReasonCode::kPoisonMessage);
  entry.created_at = replica.clock.wall();
  Result<void> kept = co_await put_and_tell(replica, std::move(entry));
  if (kept) {
    replica.log.error("message terminated", {{"subject", delivery.subject}, {"error", reason}});
  }
  co_return kept;
}

Task<Result<void>> keep_first(Replica& replica, store::DeadLetter entry) {
  auto letter = co_await replica.store.dead_letter(entry.job);
  if (!letter) co_return std::unexpected(letter.error());
  if (letter->has_value()) co_return Result<void>{};
  co_return co_await put_and_tell(replica, std::move(entry));
}

}  // namespace fairlead::scheduler
