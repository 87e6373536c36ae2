// Reading job requests and results as they come off the bus: validation, tenant, hash, and the
// record that a request begins as.
#pragma once

#include <string>
#include <string_view>

#include <google/protobuf/message_lite.h>

#include "base/ids.h"
#include "base/result.h"
#include "cordum/agent/v1/common.pb.h"
#include "cordum/agent/v1/job.pb.h"
#include "job/record.h"

namespace fairlead::job {

namespace cap = cordum::agent::v1;

// Labels that a gateway copies a job's content into, for policy to look at: they may be longer than
// others.
inline constexpr std::string_view kPromptLabel = "_content.prompt";
inline constexpr std::string_view kPayloadLabel = "_content.payload_json";

// IN-4, IN-6 and our own size limits; names and labels must be UTF-8. The error is kInvalid and
// says which field, what it held and what would be right. An id or a topic of blanks alone is
// there, and passes: see IN-8.
Result<void> validate(const cap::JobRequest& request);
// Of the packet in which a request comes.
Result<void> validate(const TraceId& trace);
// IN-5.
Result<void> validate(const cap::JobResult& result);

// IN-6: it names two tenants.
bool contradicts_tenant(const cap::JobRequest& request);

// Trims job id and topic in place.
void trim_names(cap::JobRequest& request);

// tenant_id, else env["tenant_id"], else "default": the one tenant that is counted and limited.
TenantId tenant_of(const cap::JobRequest& request);

// SHA-256, lower-case hex.
std::string sha256_hex(std::string_view bytes);

// SHA-256, lower-case hex, of the request without what approval, bus and configuration add to it:
// equal for what a client would call the same job (APP-2).
std::string job_hash(const cap::JobRequest& request);

// The job id that a packet is about, trimmed, read from its wire form without parsing all of it;
// "" when there is none. What BusPacket's parser would find, it finds; lengths in the bytes are
// not trusted. Points into `packet`.
std::string_view peek_job_id(std::string_view packet);

// The job request of a packet, in the very bytes in which it came: what they hold beyond our
// message definitions is the worker's to read. REQUIRES: the packet can be parsed.
std::string request_bytes(std::string_view packet);

// Fills a new record from a request: everything known before policy and routing. A job always has
// a trace: without one, it is the job id.
Record new_record(const cap::JobRequest& request, const TraceId& trace, WallTime now);

// SUCCEEDED to TIMEOUT as named, FAILED_RETRYABLE to RETRYING, FAILED_FATAL and anything that is
// no ending to FAILED (RES-4).
State state_of(cap::JobStatus status);
// Whether a status says how a job's run ended.
bool is_ending(cap::JobStatus status);
// By name; what the wire has no name for is told as the nearest: APPROVAL_REQUIRED as PENDING,
// RETRYING as FAILED_RETRYABLE, OUTPUT_QUARANTINED as DENIED.
cap::JobStatus status_of(State state);

// The structured error code of a reason code's text, or UNSPECIFIED (DLQ-5).
cap::ErrorCode error_code_of(std::string_view reason_code);

// Deterministic bytes: maps in key order.
std::string serialise(const google::protobuf::MessageLite& message);

}  // namespace fairlead::job
