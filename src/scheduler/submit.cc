#include "scheduler/submit.h"

#include <utility>

#include "base/planted.h"
#include "job/request.h"
#include "scheduler/packets.h"
#include "scheduler/poison.h"

namespace fairlead::scheduler {

using job::State;

// The worker asked for another try, and it is not yet time for it.
static bool backs_off(const job::Record& record, WallTime now) {
  return record.wait && record.wait->wait_class.empty() && record.due && *record.due > now;
}

GateStep redelivery_gate(const job::Record& known, const job::Record& submitted, WallTime now) {
  if (known.request_hash != submitted.request_hash) return GateStep::kRefuse;
  switch (known.state) {
    case State::kDispatched:
      return known.publish_pending ? GateStep::kResolveUnpublished : GateStep::kAcknowledge;
    case State::kPending:
    case State::kScheduled:
      return GateStep::kResume;
    case State::kRetrying:
      return backs_off(known, now) ? GateStep::kAcknowledge : GateStep::kResume;
    case State::kRunning:
    case State::kApprovalRequired:
    case State::kSucceeded:
    case State::kFailed:
    case State::kTimeout:
    case State::kCancelled:
    case State::kDenied:
    case State::kOutputQuarantined:
      return GateStep::kAcknowledge;
  }
  return GateStep::kAcknowledge;
}

namespace {

bus::Verdict verdict_of(const Walked& walked) {
  switch (walked.outcome) {
    case Outcome::kDispatched:
    case Outcome::kWaits:
    case Outcome::kEnded:
      return bus::Verdict::ack();
    case Outcome::kLost:
      return bus::Verdict::not_now(limits::kRetryBusy, "the record changed");
    case Outcome::kFailed:
      return bus::Verdict::not_now(limits::kRetryStore, walked.error.message);
  }
  return bus::Verdict::ack();
}

}  // namespace

Task<bus::Verdict> Submit::handle(bus::Delivery delivery, Admitted admitted) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet) co_return co_await poison(replica_, delivery, packet.error());
  if (!(*packet)->has_job_request()) co_return bus::Verdict::ack();

  WalkerPtr walker = begin(*std::move(packet), delivery);
  if (!walker) co_return bus::Verdict::ack();
  walker->admitted = std::move(admitted);
  if (walker->record.id.empty()) {
    // IN-8: it failed, and there is no job to say so.
    replica_.metrics.add(Counter::kJobsCompleted, replica_.label_of(walker->record.topic),
                         status_name(State::kFailed));
    co_return bus::Verdict::ack();
  }
  auto taken = co_await leases_.take(walker->record.id, true, limits::kLeaseWaitMax,
                                     walker->was_in_flight ? walker->mark : std::string());
  if (!taken) {
    if (!LeaseKeeper::is_busy(taken.error())) {
      co_return co_await not_stored(replica_, delivery, std::move(taken.error()));
    }
    co_return bus::Verdict::not_now(limits::kRetryBusy, taken.error().message);
  }
  walker->token = std::move(taken->token);
  if (taken->loaded.record) {
    co_return co_await handle_known(std::move(walker), std::move(taken->loaded), delivery);
  }
  if (is_replay(delivery)) {
    leases_.release(walker->record.id, walker->token);
    Result<void> buried = co_await bury(replica_, delivery, "older than ended jobs are kept");
    if (!buried) co_return bus::Verdict::not_now(limits::kRetryStore, buried.error().message);
    co_return bus::Verdict::ack();
  }
  if (walker->record.topic.empty()) {
    walker->path = {State::kPending};
    Ending missing{State::kFailed, job::ReasonCode::kDispatchFailed, {}, "missing topic"};
    co_return verdict_of(co_await ends_.end(*walker, std::move(missing)));
  }
  replica_.metrics.add(Counter::kJobsReceived, replica_.label_of(walker->record.topic));
  if (!replica_.gate.in_process()) co_return co_await admit(std::move(walker), delivery);
  // As answer_with, for the usual way.
  Walked walked = co_await dispatch_.advance(std::move(walker));
  if (walked.outcome != Outcome::kFailed) co_return verdict_of(walked);
  co_return co_await not_stored(replica_, delivery, std::move(walked.error));
}

Task<bus::Verdict> Submit::answer_with(Task<Walked> walk, const bus::Delivery& delivery) {
  Walked walked = co_await std::move(walk);
  if (walked.outcome != Outcome::kFailed) co_return verdict_of(walked);
  co_return co_await not_stored(replica_, delivery, std::move(walked.error));
}

// A consumer that was lost and made anew delivers all that its stream still has. What the store
// would have forgotten by now cannot be told from what it never knew.
bool Submit::is_replay(const bus::Delivery& delivery) const {
  return !delivery.mark.empty() &&
         delivery.stored_at < replica_.clock.wall() - replica_.settings.ended_job_ttl;
}

// Nullptr: the request is not valid.
WalkerPtr Submit::begin(Packet packet, const bus::Delivery& delivery) {
  auto walker = std::make_unique<Walker>(std::move(packet));
  cap::JobRequest& request = *walker->packet->mutable_job_request();
  walker->request_bytes = job::request_bytes(delivery.payload);
  walker->consumed = delivery.queued;
  walker->mark = delivery.mark;
  walker->was_in_flight = !delivery.in_flight_mark().empty();
  TraceId trace(walker->packet->trace_id());
  Result<void> valid = job::validate(request);
  if (valid) valid = job::validate(trace);
  job::trim_names(request);
  if (!valid) {
    replica_.metrics.add(Counter::kValidationRejections);
    bool attack = job::contradicts_tenant(request);
    replica_.log.write(
        attack ? Log::Level::kError : Log::Level::kWarning,
        attack ? "security: job request of two tenants rejected" : "job request rejected",
        {{"job_id", request.job_id()}, {"error", valid.error().message}});
    return nullptr;
  }
  walker->record = job::new_record(request, trace, replica_.clock.wall());
  return walker;
}

// Policy is asked over a wire: admit first, so that the submit need not wait for it.
Task<bus::Verdict> Submit::admit(WalkerPtr walker, const bus::Delivery& delivery) {
  WallTime now = replica_.clock.wall();
  job::Record& record = walker->record;
  store::Change change;
  change.guard.lease = walker->token;
  change.path = {State::kPending};
  change.request = walker->request_bytes;
  change.consumed = std::exchange(walker->consumed, std::nullopt);
  change.mark = std::exchange(walker->mark, {});
  change.was_in_flight = walker->was_in_flight;
  job::add_event(record, now, "submitted");
  record.due = now + limits::kClaimTtl;  // should this replica die on the way
  *change.next = record;
  Result<store::Receipt> receipt = co_await commits_.commit(std::move(change));
  auto* applied = receipt ? std::get_if<store::Applied>(&*receipt) : nullptr;
  if (!applied) {
    leases_.release(record.id, walker->token);
    if (!receipt) co_return co_await not_stored(replica_, delivery, std::move(receipt.error()));
    if (std::holds_alternative<store::DuplicateKey>(*receipt)) {
      replica_.metrics.add(Counter::kIdempotencyDuplicates);
      co_return bus::Verdict::ack();
    }
    co_return bus::Verdict::not_now(limits::kRetryBusy, "the record changed");
  }
  record.revision = applied->record->revision;
  // What follows is told by nobody.
  if (Admitted told = std::exchange(walker->admitted, {})) *told = applied->record;
  JobId job = record.id;
  jobs_.spawn(std::move(job), advance_alone(std::move(walker)));
  co_return bus::Verdict::ack();
}

Task<void> Submit::advance_alone(WalkerPtr walker) {
  (void)co_await dispatch_.advance(std::move(walker));
}

// Another service wrote the job and no request: this is it.
void Submit::adopt(Walker& walker, const job::Record& submitted) {
  job::Record& record = walker.record;
  record.request_hash = submitted.request_hash;
  record.topic = submitted.topic;
  record.tenant = submitted.tenant;
  record.team = submitted.team;
  record.principal = submitted.principal;
  record.workflow_id = submitted.workflow_id;
  record.priority = submitted.priority;
  if (!record.deadline) record.deadline = submitted.deadline;
  walker.brings_request = true;
}

Task<bus::Verdict> Submit::handle_known(WalkerPtr walker, store::Loaded known,
                                        const bus::Delivery& delivery) {
  job::Record submitted = std::exchange(walker->record, *known.record);
  if (walker->admitted) *walker->admitted = known.record;
  job::Record& record = walker->record;
  if (record.trace.empty()) record.trace = submitted.trace;
  if (!known.request.empty()) {
    // The first submission's bytes are the job; what it carries beyond the hash stays.
    walker->request_bytes = std::move(known.request);
    cap::JobRequest& request = *walker->packet->mutable_job_request();
    request.ParseFromString(walker->request_bytes);
    job::trim_names(request);
  } else if (record.request_hash.empty()) {
    adopt(*walker, submitted);
  }
  GateStep step = redelivery_gate(walker->record, submitted, replica_.clock.wall());
  if (planted(PlantedBug::kGateAcknowledgesDispatchedAway) &&
      step == GateStep::kResolveUnpublished) {
    step = GateStep::kAcknowledge;
  }
  switch (step) {
    case GateStep::kAcknowledge:
      break;
    case GateStep::kRefuse:
      replica_.metrics.add(Counter::kResubmitConflicts);
      replica_.log.warning("job id resubmitted with other content",
                           {{"job_id", walker->record.id.str()}});
      break;
    case GateStep::kResume:
      co_return co_await answer_with(dispatch_.advance(std::move(walker)), delivery);
    case GateStep::kResolveUnpublished:
      co_return co_await answer_with(revisits_.resolve_unpublished(std::move(walker)), delivery);
  }
  leases_.release(walker->record.id, walker->token);
  co_return bus::Verdict::ack();
}

}  // namespace fairlead::scheduler
