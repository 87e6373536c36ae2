#include "sim/sim_worker.h"

#include <algorithm>
#include <utility>

#include "job/request.h"
#include "routing/placement.h"

namespace fairlead::sim {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

namespace {

constexpr Duration kBeatEvery = 2s;
// A heartbeat has come by then, however slow the bus.
constexpr Duration kHeardAfter = 5s;

}  // namespace

SimWorker::SimWorker(WorldPlugs& world, SimBus& bus, Kind kind)
    : world_(world), bus_(bus), kind_(std::move(kind)) {}

void SimWorker::start() {
  if (alive_) return;
  alive_ = true;
  ++life_;
  heard_since_ = world_.loop.now();
  bus_.connect_worker(routing::direct_subject(kind_.id),
                      [this](std::string packet) { take(packet); });
  beat();
}

void SimWorker::die() {
  if (!alive_) return;
  alive_ = false;
  died_ever_ = true;
  ++life_;
  running_.clear();
  seen_.clear();
  unsaid_.clear();
  bus_.disconnect_worker(routing::direct_subject(kind_.id));
}

bool SimWorker::surely_lives() const {
  const MonotonicTime heard_since = std::max(heard_since_, bus_.back_at());
  return alive_ && !lags_ && world_.loop.now() - heard_since > kHeardAfter;
}

void SimWorker::lag(bool on) {
  if (lags_ && !on) heard_since_ = world_.loop.now();
  lags_ = on && alive_;
  died_ever_ = died_ever_ || lags_;
  if (lags_) return;
  for (auto& [subject, packet] : std::exchange(unsaid_, {})) publish(subject, std::move(packet));
}

void SimWorker::publish(std::string_view subject, std::string packet) {
  if (lags_) {
    unsaid_.emplace_back(subject, std::move(packet));
  } else {
    bus_.publish(std::string(subject), std::move(packet));
  }
}

void SimWorker::later(Duration delay, std::function<void()> work) {
  world_.loop.call_at(world_.loop.now() + delay, [this, life = life_, work = std::move(work)] {
    if (alive_ && life == life_) work();
  });
}

void SimWorker::beat() {
  cap::BusPacket packet;
  packet.set_trace_id("heartbeat");
  packet.set_sender_id(kind_.id.str());
  cap::Heartbeat* heartbeat = packet.mutable_heartbeat();
  heartbeat->set_worker_id(kind_.id.str());
  heartbeat->set_pool(kind_.pool.str());
  heartbeat->set_max_parallel_jobs(kind_.capacity);
  heartbeat->set_active_jobs(static_cast<int32_t>(running_.size()));
  heartbeat->set_cpu_load(static_cast<float>(cpu_load_));
  for (const auto& [name, value] : kind_.labels) (*heartbeat->mutable_labels())[name] = value;
  if (!lags_) bus_.publish(std::string(bus::kHeartbeatSubject), job::serialise(packet));
  later(kBeatEvery, [this] { beat(); });
}

void SimWorker::take(const std::string& bytes) {
  cap::BusPacket packet;
  check(packet.ParseFromString(bytes), "a dispatch can be read");
  const cap::JobRequest& request = packet.job_request();
  uint64_t epoch = request.dispatch().attempt();
  uint64_t& seen = seen_[request.job_id()];
  if (epoch <= seen) return;  // a repeat
  seen = epoch;
  if (world_.strikes(world_.options.worker_silent, "worker never answers")) return;
  running_[request.job_id()] = epoch;
  Duration work =
      world_.healed ? world_.random.between(50ms, 800ms) : world_.random.between(10ms, 4s);
  if (world_.random.chance(3)) {
    later(world_.random.between(0s, work), [this, request] { tell_progress(request); });
  }
  later(work, [this, request] { answer(request); });
}

void SimWorker::tell_progress(const cap::JobRequest& request) {
  cap::BusPacket packet;
  packet.set_trace_id("progress");
  packet.set_sender_id(kind_.id.str());
  cap::JobProgress* progress = packet.mutable_job_progress();
  progress->set_job_id(request.job_id());
  progress->set_percent(50);
  if (world_.options.workers_name_epoch) *progress->mutable_dispatch() = request.dispatch();
  publish(bus::kProgressSubject, job::serialise(packet));
}

void SimWorker::answer(cap::JobRequest request) {
  auto running = running_.find(request.job_id());
  if (running != running_.end() && running->second == request.dispatch().attempt()) {
    running_.erase(running);
  }
  cap::JobResult result;
  result.set_job_id(request.job_id());
  result.set_worker_id(kind_.id.str());
  result.set_status(cap::JOB_STATUS_SUCCEEDED);
  result.set_result_ptr("redis://res:" + request.job_id());
  if (world_.options.workers_name_epoch) *result.mutable_dispatch() = request.dispatch();
  switch (world_.random.below(14)) {
    case 0:
      result.set_status(cap::JOB_STATUS_FAILED);
      break;
    case 1:
    case 2:
      result.set_status(cap::JOB_STATUS_FAILED_RETRYABLE);
      break;
    case 3:
      result.set_status(cap::JOB_STATUS_FAILED_FATAL);
      break;
    case 4:
      result.set_status(cap::JOB_STATUS_DENIED);
      break;
    case 5:
      result.set_status(cap::JOB_STATUS_TIMEOUT);
      break;
    case 6:
      result.set_status(cap::JOB_STATUS_CANCELLED);
      break;
    default:
      break;
  }
  // Before the truth, so that it has a chance.
  if (world_.strikes(world_.options.worker_lie, "worker lies")) lie(request);
  std::string trace = std::string(kTruth) + std::to_string(request.dispatch().attempt());
  send(result, trace);
  if (world_.strikes(world_.options.worker_repeat, "worker repeats a result")) {
    later(world_.random.between(0s, 6s), [this, result, trace] { send(result, trace); });
  }
}

// Says something about a job that is not its to say.
void SimWorker::lie(const cap::JobRequest& request) {
  cap::JobResult result;
  result.set_job_id(request.job_id());
  result.set_worker_id(kind_.id.str());
  result.set_status(cap::JOB_STATUS_SUCCEEDED);
  result.set_result_ptr(std::string(kWrongWorkerLie));
  *result.mutable_dispatch() = request.dispatch();
  uint64_t epoch = request.dispatch().attempt();
  switch (world_.random.below(3)) {
    case 0:
      result.set_worker_id("somebody-else");
      break;
    case 1:
      result.mutable_dispatch()->set_attempt(epoch > 1 ? epoch - 1 : epoch + 7);
      result.set_result_ptr(std::string(kOldEpochLie) +
                            std::to_string(result.dispatch().attempt()));
      break;
    default:
      result.set_job_id("never-submitted");
      break;
  }
  send(result, "lie");
}

void SimWorker::send(const cap::JobResult& result, const std::string& trace) {
  cap::BusPacket packet;
  packet.set_trace_id(trace);
  packet.set_sender_id(kind_.id.str());
  *packet.mutable_job_result() = result;
  publish(bus::kResultSubject, job::serialise(packet));
}

}  // namespace fairlead::sim
