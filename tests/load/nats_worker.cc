#include "tests/load/nats_worker.h"

#include <charconv>

#include <fmt/format.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "job/wire_fields.h"

namespace fairlead::load {

namespace cap = cordum::agent::v1;

bool NatsWorker::connect(uint16_t port) {
  wire_ = std::make_shared<Wire>(context_);
  connected_ = wire_->connect(port);
  if (!connected_) return false;
  wire_->start([this](std::string_view bytes) { return take(bytes); },
               [this] { connected_ = false; });
  wire_->send(
      fmt::format("CONNECT {{\"verbose\":false,\"name\":\"{0}\"}}\r\nSUB worker.{0}.jobs 1\r\n"
                  "SUB _INBOX.{0}.* 2\r\n",
                  id_));
  beat();
  for (const auto& [number, packet] : untold_) publish("sys.job.result", packet, inbox(number));
  return true;
}

std::string NatsWorker::inbox(uint64_t number) const {
  return fmt::format("_INBOX.{}.{}", id_, number);
}

void NatsWorker::beat(int active) {
  cap::BusPacket packet;
  packet.set_trace_id("beat");
  packet.set_sender_id(id_);
  packet.set_protocol_version(1);
  cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
  heartbeat.set_worker_id(id_);
  heartbeat.set_pool(pool_);
  heartbeat.set_max_parallel_jobs(capacity_);
  heartbeat.set_active_jobs(active);
  publish("sys.heartbeat", job::serialise(packet));
}

void NatsWorker::succeed(std::string_view packet) {
  publish("sys.job.result",
          success_packet(id_, std::string(job::peek_job_id(packet)), dispatch_identity(packet)));
}

void NatsWorker::succeed_surely(std::string_view packet) {
  uint64_t number = ++last_number_;
  std::string result =
      success_packet(id_, std::string(job::peek_job_id(packet)), dispatch_identity(packet));
  publish("sys.job.result", result, inbox(number));
  untold_.emplace(number, std::move(result));
}

void NatsWorker::publish(std::string_view subject, std::string_view payload,
                         std::string_view reply) {
  if (!connected_) return;
  wire_->send(fmt::format("PUB {}{}{} {}\r\n{}\r\n", subject, reply.empty() ? "" : " ", reply,
                          payload.size(), payload));
}

void NatsWorker::hear(std::string_view line, std::string_view payload) {
  constexpr std::string_view kInbox = "MSG _INBOX.";
  if (!line.starts_with(kInbox)) return on_job_(*this, payload);
  if (payload.contains("\"error\"")) return;  // it is told again with the next connection
  std::string_view number = line.substr(kInbox.size() + id_.size() + 1);
  number = number.substr(0, number.find(' '));
  uint64_t told = 0;
  std::from_chars(number.data(), number.data() + number.size(), told);
  untold_.erase(told);
}

void NatsWorker::close() {
  connected_ = false;
  if (wire_) wire_->close();
}

size_t NatsWorker::take(std::string_view bytes) {
  size_t taken = 0;
  while (true) {
    std::string_view rest = bytes.substr(taken);
    size_t end = rest.find("\r\n");
    if (end == rest.npos) return taken;
    std::string_view line = rest.substr(0, end);
    if (line.starts_with("PING")) wire_->send("PONG\r\n");
    if (!line.starts_with("MSG ")) {
      taken += end + 2;
      continue;
    }
    size_t size = 0;
    std::string_view last = line.substr(line.rfind(' ') + 1);
    std::from_chars(last.data(), last.data() + last.size(), size);
    if (rest.size() < end + 2 + size + 2) return taken;
    taken += end + 2 + size + 2;
    hear(line, rest.substr(end + 2, size));
  }
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
