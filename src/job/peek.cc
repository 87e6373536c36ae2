#include <cstdint>

#include "base/text.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "job/wire_fields.h"

namespace fairlead::job {

namespace {

// Fields of the oneof: setting one clears the others.
bool is_payload(uint32_t field) {
  return (field >= cap::BusPacket::kJobRequest && field <= cap::BusPacket::kAlert) ||
         (field >= cap::BusPacket::kJobProgress && field <= cap::BusPacket::kHandshake) ||
         (field >= cap::BusPacket::kWorkerHandshakeChallengeRequest &&
          field <= cap::BusPacket::kWorkerHandshakeResult);
}

bool is_about_a_job(uint32_t payload) {
  return payload == cap::BusPacket::kJobRequest || payload == cap::BusPacket::kJobResult ||
         payload == cap::BusPacket::kJobProgress || payload == cap::BusPacket::kJobCancel;
}

// In each of those payloads.
constexpr uint32_t kJobIdField = cap::JobRequest::kJobIdFieldNumber;
static_assert(cap::JobResult::kJobIdFieldNumber == kJobIdField);
static_assert(cap::JobProgress::kJobIdFieldNumber == kJobIdField);
static_assert(cap::JobCancel::kJobIdFieldNumber == kJobIdField);

}  // namespace

std::string_view peek_job_id(std::string_view packet) {
  std::string_view job_id;
  uint32_t payload = 0;
  WireFields outer(packet);
  while (outer.next()) {
    if (!is_payload(outer.number())) continue;
    if (outer.number() != payload) job_id = {};
    payload = outer.number();
    if (!is_about_a_job(payload)) continue;

    WireFields inner(outer.bytes());
    while (inner.next()) {
      if (inner.number() == kJobIdField) job_id = inner.bytes();
    }
    if (inner.malformed()) return {};
  }
  return outer.malformed() ? std::string_view() : trim(job_id);
}

std::string request_bytes(std::string_view packet) {
  std::string bytes;
  WireFields fields(packet);
  while (fields.next()) {
    if (!is_payload(fields.number())) continue;
    // A payload of another kind clears it, a further piece of the same kind adds to it.
    if (fields.number() == cap::BusPacket::kJobRequest) {
      bytes += fields.bytes();
    } else {
      bytes.clear();
    }
  }
  return bytes;
}

}  // namespace fairlead::job
