#include "scheduler/packets.h"

#include "base/limits.h"
#include "base/text.h"
#include "job/constraints.h"
#include "job/request.h"
#include "job/wire_fields.h"
#include "routing/placement.h"

namespace fairlead::scheduler {

namespace {

constexpr const char* kSender = "cordum-scheduler";

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

std::string dispatch_id(const JobId& job, Epoch epoch) {
  return "jobreq:" + job.str() + ":" + std::to_string(epoch.value());
}

std::string dispatch_packet(const job::Record& record, std::string_view request_bytes,
                            int64_t deadline_ms, WallTime now) {
  cap::JobRequest added;
  added.set_job_id(record.id.str());
  added.set_topic(record.topic.str());
  if (!record.decision.constraints.empty()) {
    added.mutable_budget()->set_deadline_ms(deadline_ms);
    job::apply_constraints(record.decision.constraints, added);
  }
  cap::DispatchIdentity* dispatch = added.mutable_dispatch();
  dispatch->set_dispatch_id(dispatch_id(record.id, record.epoch));
  dispatch->set_attempt(record.epoch.value());
  dispatch->set_assigned_worker_id(record.assignee.str());

  std::string packet = job::serialise(envelope(record.trace.str(), now));
  std::string behind = job::serialise(added);
  job::append_message(packet, cap::BusPacket::kJobRequestFieldNumber, {request_bytes, behind});
  return packet;
}

store::Message dead_letter_message(const store::DeadLetter& entry, Revision revision,
                                   WallTime now) {
  cap::BusPacket packet = envelope(entry.job.str(), now);
  cap::JobResult* result = packet.mutable_job_result();
  result->set_job_id(entry.job.str());
  cap::JobStatus status = cap::JOB_STATUS_FAILED;
  cap::JobStatus_Parse(entry.status, &status);
  result->set_status(status);
  result->set_error_code(entry.reason_code);
  result->set_error_code_enum(job::error_code_of(entry.reason_code));
  result->set_error_message(entry.reason);
  // One id for each ending of the job: a later one is not taken for a repeat (H-40).
  return {"sys.job.dlq",
          job::serialise(packet),
          "sys.job.dlq:" + entry.job.str() + ":" + std::to_string(revision.value()),
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

}  // namespace fairlead::scheduler
