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

#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"
#include "edge/http/api/route.h"

namespace fairlead::http {

struct Submission {
  JobId job;
  TenantId tenant;
  Topic topic;
  TraceId trace;
  bool keyed = false;
  std::string packet;   // for sys.job.submit
  std::string context;  // what lies under ctx:<job>
};

std::expected<Submission, Reply> read_submission(const Request& request, ReadTools& tools);

Task<Reply> submit(Backend& backend, Submission submission);

// A packet that submits the request.
std::string submit_packet(cordum::agent::v1::JobRequest request, const TraceId& trace,
                          WallTime now);

}  // namespace fairlead::http
