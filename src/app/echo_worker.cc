#include "app/echo_worker.h"

#include "base/limits.h"
#include "edge/http/api/text.h"
#include "job/request.h"
#include "routing/placement.h"

namespace fairlead::app {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

namespace {

constexpr Duration kBeatEvery = 5s;
constexpr int32_t kParallel = 8;
// Above limits::kOverloadPercent: placement prefers anybody else.
constexpr float kBusyPercent = 100;

}  // namespace

EchoWorker::EchoWorker(const Plugs& plugs, WorkerId id, PoolName pool)
    : plugs_(plugs), id_(std::move(id)), pool_(std::move(pool)) {}

Result<void> EchoWorker::start() {
  auto jobs =
      plugs_.bus.subscribe(routing::direct_subject(id_), {},
                           [this](bus::Delivery delivery) { return take(std::move(delivery)); });
  if (!jobs) return std::unexpected(jobs.error());
  jobs_ = *std::move(jobs);
  auto heartbeats = plugs_.bus.subscribe(
      std::string(bus::kHeartbeatSubject), {},
      [this](bus::Delivery delivery) { return overhear(std::move(delivery)); });
  if (!heartbeats) return std::unexpected(heartbeats.error());
  heartbeats_ = *std::move(heartbeats);
  tasks_.spawn(keep_beating());
  return {};
}

Task<void> EchoWorker::keep_beating() {
  do {
    beat();
  } while (co_await plugs_.loop.delay(kBeatEvery));
}

void EchoWorker::beat() {
  const bool others = other_seen_ && plugs_.clock.monotonic() - *other_seen_ < limits::kWorkerTtl;
  cap::BusPacket packet;
  packet.set_trace_id(id_.str());
  packet.set_sender_id(id_.str());
  packet.set_protocol_version(1);
  cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
  heartbeat.set_worker_id(id_.str());
  heartbeat.set_pool(pool_.str());
  heartbeat.set_type("echo");
  heartbeat.set_active_jobs(active_);
  heartbeat.set_max_parallel_jobs(kParallel);
  if (others) heartbeat.set_cpu_load(kBusyPercent);
  (void)plugs_.bus.publish(std::string(bus::kHeartbeatSubject), job::serialise(packet), {});
}

Task<bus::Verdict> EchoWorker::overhear(bus::Delivery delivery) {
  cap::BusPacket packet;
  if (packet.ParseFromString(delivery.payload) && packet.has_heartbeat() &&
      packet.heartbeat().pool() == pool_.str() && packet.heartbeat().worker_id() != id_.str()) {
    const bool first = !other_seen_;
    other_seen_ = plugs_.clock.monotonic();
    if (first) beat();  // before the next job is placed
  }
  co_return bus::Verdict::ack();
}

Task<bus::Verdict> EchoWorker::take(bus::Delivery delivery) {
  cap::BusPacket packet;
  if (packet.ParseFromString(delivery.payload) && packet.has_job_request()) {
    tasks_.spawn(work(std::move(packet)));
  }
  co_return bus::Verdict::ack();
}

Task<void> EchoWorker::work(cap::BusPacket packet) {
  const cap::JobRequest& request = packet.job_request();
  ++active_;
  const WallTime began = plugs_.clock.wall();
  auto context =
      co_await plugs_.store.blob(std::string(http::key_of_pointer(request.context_ptr())));
  const std::string key = "res:" + request.job_id();
  bool kept = false;
  if (context && *context) {
    auto stored = co_await plugs_.store.put_blob(
        key, {(*context)->bytes, plugs_.clock.wall() + limits::kBlobTtlDefault},
        store::BlobCondition::kAlways);
    kept = stored.has_value();
  }
  cap::BusPacket answer;
  answer.set_trace_id(packet.trace_id());
  answer.set_sender_id(id_.str());
  answer.set_protocol_version(1);
  cap::JobResult& result = *answer.mutable_job_result();
  result.set_job_id(request.job_id());
  result.set_worker_id(id_.str());
  result.set_status(kept ? cap::JOB_STATUS_SUCCEEDED : cap::JOB_STATUS_FAILED);
  if (kept) {
    result.set_result_ptr(http::pointer_to(key));
  } else {
    result.set_error_message("the payload of the job is gone");
  }
  result.set_execution_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(plugs_.clock.wall() - began).count());
  *result.mutable_dispatch() = request.dispatch();
  (void)co_await plugs_.bus.publish(std::string(bus::kResultSubject), job::serialise(answer), {});
  --active_;
}

}  // namespace fairlead::app
