#include "scheduler/poison.h"

#include "job/request.h"

namespace fairlead::scheduler {

Task<bus::Verdict> poison(Replica& replica, const bus::Delivery& delivery, const Error& error) {
  replica.metrics.add(Counter::kUnmarshalFailures, delivery.subject, "invalid");
  if (delivery.deliveries <= limits::kPoisonDeliveriesMax) {
    co_return bus::Verdict::nak(limits::kPoisonRetry, error.message);
  }
  Result<void> buried = co_await bury(replica, delivery, error.message);
  if (!buried) co_return bus::Verdict::not_now(limits::kPoisonRetry, buried.error().message);
  co_return bus::Verdict::terminate(error.message);
}

Task<Result<void>> bury(Replica& replica, const bus::Delivery& delivery, std::string reason) {
  store::DeadLetter entry;
  std::string_view job = job::peek_job_id(delivery.payload);
  entry.job = job.empty()
                  ? JobId(delivery.subject + "#" + std::to_string(delivery.sequence.value()))
                  : JobId(job.substr(0, limits::kJobIdBytesMax));
  entry.status = "JOB_STATUS_FAILED";
  entry.reason = delivery.subject + ": " + reason;
  entry.reason_code = job::to_string(job::ReasonCode::kPoisonMessage);
  entry.created_at = replica.clock.wall();
  Result<void> kept = co_await replica.store.put_dead_letter(std::move(entry));
  if (kept) {
    replica.log.error("message terminated", {{"subject", delivery.subject}, {"error", reason}});
  }
  co_return kept;
}

}  // namespace fairlead::scheduler
