// POST /jobs: a job comes in over HTTP.
//
// The reading thread makes the whole packet; the loop publishes it on sys.job.submit and keeps the
// context beside it. Both are applied in one turn and so share one sync: the publish is answered
// when the scheduler's commit is durable, and the context, applied before it, is durable with it.
//
// With an idempotency key the job id follows from tenant and key. So a repeat, also one that runs
// at the same time or after a crash, is the same job by the scheduler's own rules.
#pragma once

#include <expected>
#include <string>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"
#include "edge/http/api/route.h"

namespace fairlead::http {

struct Submission {
  JobId job;
  TenantId tenant;
  Topic topic;
  TraceId trace;
  std::string key;      // for idempotency; "": none
  std::string packet;   // for sys.job.submit
  std::string context;  // what lies under ctx:<job>

  bool keyed() const { return !key.empty(); }
};

std::expected<Submission, Reply> read_submission(const Request& request, ReadTools& tools);

// Gives a submit to the scheduler, by the bus or directly; then `admitted` is given the record.
Future<Result<bus::Published>> hand_in(Backend& backend, std::string packet,
                                       scheduler::Admitted admitted = {});

// The record of a job that was handed in and taken. It is there at once, unless its admission was
// put off because the store was busy: then it comes within moments. Null when it does not.
Task<Result<store::Snapshot>> admitted(Backend& backend, JobId job);
// What a caller is told then.
Reply not_admitted(const JobId& job, const TraceId& trace);
Reply queue_full();
// Why a job of this topic is not taken, if it is not: there is no such topic, or it is disabled.
std::optional<Reply> topic_refused(const Backend& backend, const Topic& topic);

Task<Reply> submit(Backend& backend, Submission submission);

// A packet of ours, without its payload.
cordum::agent::v1::BusPacket gateway_packet(const TraceId& trace, WallTime now);
// A packet that submits the request.
std::string submit_packet(cordum::agent::v1::JobRequest request, const TraceId& trace,
                          WallTime now);

}  // namespace fairlead::http
