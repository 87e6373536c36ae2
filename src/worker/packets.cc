#include "worker/packets.h"

#include <sysexits.h>

#include "job/request.h"

namespace fairlead::worker {

namespace {

cap::BusPacket envelope(const std::string& sender, const std::string& trace, WallTime now) {
  cap::BusPacket packet;
  packet.set_trace_id(trace);
  packet.set_sender_id(sender);
  packet.set_protocol_version(1);
  const int64_t micros = to_micros(now);
  packet.mutable_created_at()->set_seconds(micros / 1'000'000);
  packet.mutable_created_at()->set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  return packet;
}

}  // namespace

std::string jobs_subject(std::string_view worker) {
  return "worker." + std::string(worker) + ".jobs";
}

std::string hello_subject(std::string_view worker) {
  return "worker." + std::string(worker) + ".hello";
}

Result<cap::BusPacket> read_packet(std::string_view bytes) {
  cap::BusPacket packet;
  if (!packet.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kInvalid, "not a BusPacket");
  }
  return packet;
}

std::string handshake_packet(const Options& options, WallTime now) {
  cap::BusPacket packet = envelope(options.id, options.id, now);
  cap::Handshake& handshake = *packet.mutable_handshake();
  handshake.set_component_id(options.id);
  handshake.set_role(cap::COMPONENT_ROLE_WORKER);
  handshake.add_supported_versions(1);
  for (const std::string& name : options.capabilities) {
    (*handshake.mutable_capabilities())[name] = true;
  }
  for (const std::string& topic : options.topics) handshake.add_ready_topics(topic);
  return job::serialise(packet);
}

std::string heartbeat_packet(const Options& options, const Load& load, WallTime now) {
  cap::BusPacket packet = envelope(options.id, options.id, now);
  cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
  heartbeat.set_worker_id(options.id);
  heartbeat.set_type("fairlead-worker");
  heartbeat.set_pool(options.pool);
  heartbeat.set_cpu_load(load.cpu);
  heartbeat.set_memory_load(load.memory);
  heartbeat.set_active_jobs(load.active_jobs);
  heartbeat.set_max_parallel_jobs(options.parallel);
  for (const std::string& name : options.capabilities) heartbeat.add_capabilities(name);
  for (const auto& [name, value] : options.labels) (*heartbeat.mutable_labels())[name] = value;
  return job::serialise(packet);
}

std::string result_packet(const cap::JobResult& result, const std::string& trace, WallTime now) {
  cap::BusPacket packet = envelope(result.worker_id(), trace, now);
  *packet.mutable_job_result() = result;
  return job::serialise(packet);
}

std::string progress_packet(const std::string& job, const cap::DispatchIdentity& dispatch,
                            const ProgressLine& progress, const std::string& worker,
                            const std::string& trace, WallTime now) {
  cap::BusPacket packet = envelope(worker, trace, now);
  cap::JobProgress& said = *packet.mutable_job_progress();
  said.set_job_id(job);
  said.set_step_id(progress.step);
  said.set_percent(progress.percent);
  said.set_message(progress.message);
  said.set_status(cap::JOB_STATUS_RUNNING);
  if (dispatch.attempt() > 0) *said.mutable_dispatch() = dispatch;
  return job::serialise(packet);
}

cap::JobStatus status_of_exit(int code) {
  switch (code) {
    case EX_OK:
      return cap::JOB_STATUS_SUCCEEDED;
    case EX_TEMPFAIL:
      return cap::JOB_STATUS_FAILED_RETRYABLE;
    case EX_DATAERR:
    case EX_CONFIG:
      return cap::JOB_STATUS_FAILED_FATAL;
    default:
      return cap::JOB_STATUS_FAILED;
  }
}

}  // namespace fairlead::worker
