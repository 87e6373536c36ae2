#include "scheduler/packets.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "bus/bus.h"
#include "job/constraints.h"
#include "job/request.h"
#include "job/wire_fields.h"
#include "routing/placement.h"
#include "scheduler/effective_config.h"

namespace fairlead::scheduler {

namespace {

constexpr const char* kSender = "cordum-scheduler";
constexpr const char* kComponent = "scheduler";
constexpr const char* kConfigChanged = "config changed";

cap::BusPacket envelope(std::string_view trace, WallTime now) {
  cap::BusPacket packet;
  packet.set_trace_id(std::string(trace));
  packet.set_sender_id(kSender);
  packet.set_protocol_version(1);
  int64_t micros = to_micros(now);
  packet.mutable_created_at()->set_seconds(micros / 1'000'000);
  packet.mutable_created_at()->set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  return packet;
}

}  // namespace

Result<Packet> read_packet(std::string_view bytes) {
  if (bytes.size() > limits::kPacketBytesMax) {
    return fail(ErrorCode::kInvalid, "packet has " + std::to_string(bytes.size()) +
                                         " bytes, at most " +
                                         std::to_string(limits::kPacketBytesMax) + " are allowed");
  }
  Packet packet;
  if (!packet->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kInvalid, "not a BusPacket");
  }
  // The heartbeats and handshakes of older SDKs have none.
  const bool traced = !packet->has_heartbeat() && !packet->has_handshake();
  if (traced && trim(packet->trace_id()).empty()) {
    return fail(ErrorCode::kInvalid, "trace_id is missing");
  }
  if (trim(packet->sender_id()).empty()) return fail(ErrorCode::kInvalid, "sender_id is missing");
  if (packet->payload_case() == cap::BusPacket::PAYLOAD_NOT_SET) {
    return fail(ErrorCode::kInvalid, "payload is missing");
  }
  return packet;
}

const char* unreadable_because(std::string_view bytes) {
  bool parses = bytes.size() <= limits::kPacketBytesMax &&
                cap::BusPacket().ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  return parses ? "invalid" : "unmarshal";
}

std::string dispatch_id(const JobId& job, Epoch epoch) {
  return "jobreq:" + job.str() + ":" + std::to_string(epoch.value());
}

DispatchPacket dispatch_packet(const job::Record& record, std::string_view request_bytes,
                               WallTime now, const std::string& effective_config) {
  DispatchPacket packet;
  cap::JobRequest added;
  added.set_job_id(record.id.str());
  added.set_topic(record.topic.str());
  if (record.deadline) {
    // A worker counts from when it gets the job. One that is late is still told of a bound.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*record.deadline - now);
    added.mutable_budget()->set_deadline_ms(std::max<int64_t>(1, left.count()));
  }
  if (!effective_config.empty()) {
    (*added.mutable_env())[kEffectiveConfigVariable] = effective_config;
  }
  if (!record.decision.constraints.empty()) {
    packet.tells_constraints = job::apply_constraints(record.decision.constraints, added);
  }
  cap::DispatchIdentity* dispatch = added.mutable_dispatch();
  dispatch->set_dispatch_id(dispatch_id(record.id, record.epoch));
  dispatch->set_attempt(record.epoch.value());
  dispatch->set_assigned_worker_id(record.assignee.str());

  packet.bytes = job::serialise(envelope(record.trace.str(), now));
  std::string behind = job::serialise(added);
  job::append_message(packet.bytes, cap::BusPacket::kJobRequestFieldNumber,
                      {request_bytes, behind});
  return packet;
}

store::Message dead_letter_message(const job::Record& ended, WallTime now) {
  cap::BusPacket packet = envelope(ended.id.str(), now);
  cap::JobResult* result = packet.mutable_job_result();
  result->set_job_id(ended.id.str());
  result->set_status(job::status_of(ended.state));
  result->set_error_code(ended.error_code);
  result->set_error_code_enum(static_cast<cap::ErrorCode>(ended.error_number));
  result->set_error_message(ended.error_message);
  // One id for each ending of the job: a later one is not taken for a repeat (H-40).
  return {std::string(bus::kDeadLetterSubject),
          job::serialise(packet),
          fmt::format("{}:{}:{}", bus::kDeadLetterSubject, ended.id.str(),
                      ended.revision.next().value()),
          {}};
}

store::Message dead_letter_message(const store::DeadLetter& entry) {
  cap::BusPacket packet = envelope(entry.job.str(), entry.created_at);
  cap::JobResult* result = packet.mutable_job_result();
  result->set_job_id(entry.job.str());
  cap::JobStatus status = cap::JOB_STATUS_UNSPECIFIED;
  if (cap::JobStatus_Parse(entry.status, &status)) result->set_status(status);
  result->set_error_code(entry.reason_code);
  result->set_error_code_enum(static_cast<cap::ErrorCode>(job::error_code_of(entry.reason_code)));
  result->set_error_message(entry.reason);
  return {std::string(bus::kDeadLetterSubject),
          job::serialise(packet),
          fmt::format("{}:{}:{}", bus::kDeadLetterSubject, entry.job.str(), entry.reason_code),
          {}};
}

std::string cancel_packet(const JobId& job, std::string_view reason, WallTime now) {
  cap::BusPacket packet = envelope(job.str(), now);
  cap::JobCancel* cancel = packet.mutable_job_cancel();
  cancel->set_job_id(job.str());
  cancel->set_reason(std::string(reason));
  cancel->set_requested_by(kSender);
  return job::serialise(packet);
}

store::Message cancel_message(const JobId& job, std::string_view reason, WallTime now) {
  return {
      std::string(bus::kCancelSubject), cancel_packet(job, reason, now), "cancel:" + job.str(), {}};
}

routing::WorkerReport report_of(const cap::Heartbeat& heartbeat) {
  routing::WorkerReport report;
  report.id = WorkerId(heartbeat.worker_id());
  report.pool = PoolName(heartbeat.pool());
  report.active_jobs = heartbeat.active_jobs();
  report.max_parallel_jobs = heartbeat.max_parallel_jobs();
  report.cpu_load = heartbeat.cpu_load();
  report.gpu_utilization = heartbeat.gpu_utilization();
  report.memory_load = heartbeat.memory_load();
  for (const auto& [name, value] : heartbeat.labels()) report.labels[name] = value;
  report.capabilities.assign(heartbeat.capabilities().begin(), heartbeat.capabilities().end());
  report.region = heartbeat.region();
  report.type = heartbeat.type();
  return report;
}

std::string handshake_packet(std::string trace, WallTime now) {
  cap::BusPacket packet = envelope(trace, now);
  packet.set_sender_id(kComponent);
  cap::Handshake* handshake = packet.mutable_handshake();
  handshake->set_component_id(kComponent);
  handshake->set_role(cap::COMPONENT_ROLE_SCHEDULER);
  handshake->add_supported_versions(1);
  for (const char* can : {"safety_check", "routing"})
    (*handshake->mutable_capabilities())[can] = true;
  (*handshake->mutable_capabilities())["compensation"] = false;
  return job::serialise(packet);
}

std::string config_changed_packet(std::string_view scope, std::string_view scope_id, WallTime now) {
  cap::BusPacket packet = envelope(fmt::format("config:{}:{}", scope, scope_id), now);
  cap::SystemAlert* alert = packet.mutable_alert();
  alert->set_message(kConfigChanged);
  alert->set_severity(cap::ALERT_SEVERITY_INFO);
  alert->set_source_component(kSender);
  auto& details = *alert->mutable_details();
  details["scope"] = scope;
  details["scope_id"] = scope_id;
  details["changed_at"] = rfc3339_seconds(now);
  return job::serialise(packet);
}

bool is_config_changed(const cap::BusPacket& packet) {
  return packet.has_alert() && lower(packet.alert().message()) == kConfigChanged;
}

}  // namespace fairlead::scheduler
