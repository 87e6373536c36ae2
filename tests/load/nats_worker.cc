#include "tests/load/nats_worker.h"

#include <fmt/format.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "job/wire_fields.h"

namespace fairlead::load {

namespace cap = cordum::agent::v1;

NatsWorker::NatsWorker(asio::io_context& context, std::string id, std::string pool, int capacity,
                       OnJob on_job)
    : client_(context, std::move(id)),
      pool_(std::move(pool)),
      capacity_(capacity),
      on_job_(std::move(on_job)) {
  client_.subscribe(fmt::format("worker.{}.jobs", client_.name()),
                    [this](const NatsMessage& message) { on_job_(*this, message.payload); });
  client_.subscribe(fmt::format("_INBOX.{}.*", client_.name()),
                    [this](const NatsMessage& message) { hear_stored(message); });
}

bool NatsWorker::connect(const Endpoint& place) {
  if (!client_.connect(place)) return false;
  beat();
  tell_again();
  return true;
}

std::string NatsWorker::inbox(uint64_t number) const {
  return fmt::format("_INBOX.{}.{}", id(), number);
}

void NatsWorker::beat(int active) {
  cap::BusPacket packet;
  packet.set_trace_id("beat");
  packet.set_sender_id(id());
  packet.set_protocol_version(1);
  cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
  heartbeat.set_worker_id(id());
  heartbeat.set_pool(pool_);
  heartbeat.set_max_parallel_jobs(capacity_);
  heartbeat.set_active_jobs(active);
  client_.publish("sys.heartbeat", job::serialise(packet));
}

void NatsWorker::succeed(std::string_view packet) {
  const std::string job(job::peek_job_id(packet));
  client_.publish("sys.job.result", success_packet(id(), job, dispatch_identity(packet)));
}

void NatsWorker::succeed_surely(std::string_view packet) {
  const uint64_t number = ++last_number_;
  std::string job(job::peek_job_id(packet));
  std::string result = success_packet(id(), job, dispatch_identity(packet));
  client_.publish("sys.job.result", result, inbox(number));
  untold_.emplace(number, Result{std::move(job), std::move(result)});
}

void NatsWorker::tell_again() {
  for (const auto& [number, result] : untold_) {
    client_.publish("sys.job.result", result.packet, inbox(number));
  }
}

void NatsWorker::hear_stored(const NatsMessage& answer) {
  if (answer.payload.contains("\"error\"")) return;
  const auto found = untold_.find(number_in(answer.subject.substr(answer.subject.rfind('.') + 1)));
  if (found == untold_.end()) return;
  constexpr std::string_view kSequence = "\"seq\":";
  const size_t at = answer.payload.find(kSequence);
  const uint64_t sequence =
      at == answer.payload.npos ? 0 : number_in(answer.payload.substr(at + kSequence.size()));
  const std::string job = std::move(found->second.job);
  untold_.erase(found);
  if (on_stored_) on_stored_(job, sequence);
}

std::string success_packet(const std::string& worker, const std::string& job,
                           std::string_view dispatch) {
  cap::BusPacket envelope;
  envelope.set_trace_id("answer");
  envelope.set_sender_id(worker);
  cap::JobResult result;
  result.set_job_id(job);
  result.set_worker_id(worker);
  result.set_status(cap::JOB_STATUS_SUCCEEDED);
  result.set_result_ptr("redis://res:" + job);
  std::string identity;
  job::append_message(identity, cap::JobResult::kDispatchFieldNumber, {dispatch});
  std::string packet = envelope.SerializeAsString();
  job::append_message(packet, cap::BusPacket::kJobResultFieldNumber,
                      {result.SerializeAsString(), identity});
  return packet;
}

std::string_view dispatch_identity(std::string_view packet) {
  job::WireFields outer(packet);
  while (outer.next()) {
    if (outer.number() != cap::BusPacket::kJobRequestFieldNumber) continue;
    std::string_view identity;
    job::WireFields inner(outer.bytes());
    while (inner.next()) {
      if (inner.number() == cap::JobRequest::kDispatchFieldNumber) identity = inner.bytes();
    }
    return identity;
  }
  return {};
}

}  // namespace fairlead::load
