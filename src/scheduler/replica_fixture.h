// For tests: what a scheduler is plugged into, in memory and in virtual time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "gate/topic_gate.h"
#include "job/request.h"
#include "runtime/simulated_loop.h"
#include "scheduler/replica.h"
#include "store/memory/memory_store.h"

namespace fairlead::scheduler {

class LoopClock final : public Clock {
 public:
  explicit LoopClock(const SimulatedLoop& loop) : loop_(loop) {}
  WallTime wall() const override {
    return WallTime(std::chrono::hours(24 * 365 * 50)) + loop_.now().time_since_epoch();
  }
  MonotonicTime monotonic() const override { return loop_.now(); }

 private:
  const SimulatedLoop& loop_;
};

class ReplicaTest : public testing::Test {
 protected:
  static constexpr const char* kPools = R"(
topics:
  job.default: default
pools:
  default: {}
)";

  std::shared_ptr<const routing::PoolMap> pools() const {
    return std::make_shared<routing::PoolMap>(*routing::parse_pool_map(kPools));
  }

  Plugs plugs(gate::Gate& gate) { return {loop_, clock_, random_, store_, bus_, gate, log_}; }
  Plugs plugs_with(bus::Bus& bus) { return {loop_, clock_, random_, store_, bus, gate_, log_}; }

  // As a client or a worker would send it.
  void send(std::string_view subject, cordum::agent::v1::BusPacket packet) {
    packet.set_trace_id("t");
    packet.set_sender_id("test");
    (void)bus_.publish(std::string(subject), job::serialise(packet), {});
    loop_.run_ready();
  }
  static std::string submit_packet(const std::string& job) {
    cordum::agent::v1::BusPacket packet;
    packet.set_trace_id("t");
    packet.set_sender_id("client");
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic("job.default");
    return job::serialise(packet);
  }
  void submit(const std::string& job) {
    cordum::agent::v1::BusPacket packet;
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic("job.default");
    send(bus::kSubmitSubject, std::move(packet));
  }
  void beat(const std::string& worker, int32_t capacity, int32_t active) {
    cordum::agent::v1::BusPacket packet;
    packet.mutable_heartbeat()->set_worker_id(worker);
    packet.mutable_heartbeat()->set_pool("default");
    packet.mutable_heartbeat()->set_max_parallel_jobs(capacity);
    packet.mutable_heartbeat()->set_active_jobs(active);
    send(bus::kHeartbeatSubject, std::move(packet));
  }
  void answer(const std::string& worker, const std::string& job) {
    cordum::agent::v1::BusPacket packet;
    packet.mutable_job_result()->set_job_id(job);
    packet.mutable_job_result()->set_worker_id(worker);
    packet.mutable_job_result()->set_status(cordum::agent::v1::JOB_STATUS_SUCCEEDED);
    send(bus::kResultSubject, std::move(packet));
  }
  store::Snapshot stored(const std::string& job) {
    return store_.load(JobId(job), {}).await_resume()->record;
  }

  // Runs a task to its end, without moving time.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> value;
    auto keep = [](Task<T> inner, std::optional<T>& into) -> Task<void> {
      into.emplace(co_await std::move(inner));
    };
    tasks_.spawn(keep(std::move(task), value));
    loop_.run_ready();
    EXPECT_TRUE(value.has_value()) << "the task waits for something";
    return std::move(*value);
  }

  SimulatedLoop loop_;
  LoopClock clock_{loop_};
  SeededRandom random_{1};
  NoLog log_;
  store::MemoryStore store_{clock_};
  bus::LocalBus bus_{loop_, clock_, store_};
  gate::TopicGate gate_;
  Nursery tasks_;
};

}  // namespace fairlead::scheduler
