// For tests: what a scheduler is plugged into, in memory and in virtual time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "gate/topic_gate.h"
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
