#include "edge/http/api/event_json.h"

#include <google/protobuf/util/json_util.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/api/text.h"
#include "job/request.h"

namespace fairlead::http {

namespace {

namespace cap = cordum::agent::v1;

// The name, the job and the tenant of a packet that readers are told of.
bool describe(const cap::BusPacket& packet, PacketEvent& event) {
  switch (packet.payload_case()) {
    case cap::BusPacket::kJobRequest:
      event.name = "job.request";
      event.job = packet.job_request().job_id();
      event.tenant = job::tenant_of(packet.job_request()).str();
      return true;
    case cap::BusPacket::kJobResult:
      event.name = "job.result";
      event.job = packet.job_result().job_id();
      return true;
    case cap::BusPacket::kJobProgress:
      event.name = "job.progress";
      event.job = packet.job_progress().job_id();
      return true;
    case cap::BusPacket::kJobCancel:
      event.name = "job.cancel";
      event.job = packet.job_cancel().job_id();
      return true;
    case cap::BusPacket::kHeartbeat:
      event.name = "worker.heartbeat";
      return true;
    case cap::BusPacket::kAlert:
      event.name = "alert";
      return true;
    case cap::BusPacket::kHandshake:
    case cap::BusPacket::kWorkerHandshakeChallengeRequest:
    case cap::BusPacket::kWorkerHandshakeChallenge:
    case cap::BusPacket::kWorkerHandshakeAuthenticate:
    case cap::BusPacket::kWorkerHandshakeResult:
    case cap::BusPacket::PAYLOAD_NOT_SET:
      return false;
  }
  return false;
}

}  // namespace

json::object status_event(const job::Record& record) {
  json::object event{{"type", kStatusChanged},
                     {"job_id", record.id.str()},
                     {"state", job::to_string(record.state)},
                     {"topic", record.topic.str()},
                     {"tenant", record.tenant.str()},
                     {"trace_id", record.trace.str()},
                     {"revision", record.revision.value()},
                     {"attempts", record.attempts},
                     {"at", rfc3339(record.updated_at)},
                     {"updated_at", to_micros(record.updated_at)}};
  if (!record.assignee.empty()) event["worker_id"] = record.assignee.str();
  if (record.wait) event["wait_reason"] = job::to_string(record.wait->reason);
  if (!record.error_code.empty()) event["error_code"] = record.error_code;
  if (!record.error_message.empty()) event["error_message"] = record.error_message;
  return event;
}

std::optional<PacketEvent> packet_event(std::string_view bytes) {
  cap::BusPacket packet;
  if (!packet.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  PacketEvent event;
  if (!describe(packet, event)) return std::nullopt;
  if (packet.has_job_result() && packet.job_result().status() == cap::JOB_STATUS_DENIED) {
    packet.mutable_job_result()->clear_result_ptr();
    packet.mutable_job_result()->clear_artifact_ptrs();
    packet.mutable_job_result()->clear_result_ref();
    packet.mutable_job_result()->clear_artifact_refs();
  }
  packet.clear_auth_token();
  packet.clear_signature();
  if (packet.has_heartbeat()) packet.mutable_heartbeat()->clear_auth_token();
  auto created = packet.created_at();
  bool dated = packet.has_created_at();
  packet.clear_created_at();
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(packet, &text).ok()) return std::nullopt;
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  if (dated) {
    value.as_object()["createdAt"] = {{"seconds", created.seconds()}, {"nanos", created.nanos()}};
  }
  event.data = json::serialize(value);
  return event;
}

}  // namespace fairlead::http
