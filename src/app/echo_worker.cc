#include "app/echo_worker.h"

#include <algorithm>

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
  const std::pair<std::string, Task<bus::Verdict> (EchoWorker::*)(bus::Delivery)> all[] = {
      {routing::direct_subject(id_), &EchoWorker::take},
      {std::string(bus::kHeartbeatSubject), &EchoWorker::look_around},
      {std::string(bus::kHandshakeSubject), &EchoWorker::look_around},
      {std::string(bus::kWorkerGoneSubject), &EchoWorker::look_around},
  };
  for (const auto& [subject, handler] : all) {
    auto subscription = plugs_.bus.subscribe(subject, {}, [this, handler](bus::Delivery delivery) {
      return (this->*handler)(std::move(delivery));
    });
    if (!subscription) return std::unexpected(subscription.error());
    subscriptions_.push_back(*std::move(subscription));
  }
  tasks_.spawn(keep_beating());
  return {};
}

Task<void> EchoWorker::keep_beating() {
  do {
    beat();
  } while (co_await plugs_.loop.delay(kBeatEvery));
}

void EchoWorker::beat() {
  told_busy_ = others_take_all();
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
  if (told_busy_) heartbeat.set_cpu_load(kBusyPercent);
  (void)plugs_.bus.publish(std::string(bus::kHeartbeatSubject), job::serialise(packet), {});
}

Task<bus::Verdict> EchoWorker::look_around(bus::Delivery) {
  if (others_take_all() != told_busy_) beat();  // before the next job is placed
  co_return bus::Verdict::ack();
}

bool EchoWorker::others_take_all() const {
  const routing::WorkerRegistry& registry = plugs_.scheduler.registry();
  const routing::PoolMap& pools = plugs_.scheduler.pools();
  auto taken = [&](const Topic& topic) {
    bool found = false;
    registry.visit([&](const routing::WorkerView& other) {
      found |= other.report.id != id_ && other.report.pool == pool_ &&
               routing::is_ready_for(other.report, topic);
    });
    return found;
  };
  return std::ranges::all_of(pools.topics(), [&](const Topic& topic) {
    return std::ranges::find(*pools.pools_of(topic), pool_) == pools.pools_of(topic)->end() ||
           taken(topic);
  });
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
        key, {(*context)->bytes, plugs_.clock.wall() + plugs_.results_kept},
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
