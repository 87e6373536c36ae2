// The embedded core as the server wires it: RocksDB with fsync, the local bus, a gate in process
// and one scheduler, with workers that answer at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/submit_form.h"
#include "bus/local/local_bus.h"
#include "gate/topic_gate.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "scheduler/scheduler.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::bench {

class Embedded {
 public:
  // A folder that is there already is opened; one that is not given is made and removed.
  explicit Embedded(std::string folder = {});
  ~Embedded();

  // Runs the loop until the task has ended.
  void run(Task<void> task);

  // Workers that announce themselves and answer every job with SUCCEEDED.
  void add_workers(int count, int capacity);

  // Submits one job and completes when its end is durable.
  Task<void> live_one_life();
  // Submits one job that no worker serves, and completes when that is durable.
  Task<bool> submit_unserved();

  AsioLoop& loop() { return loop_; }
  store::RocksStore& store() { return *store_; }
  const store::RocksStore& store() const { return *store_; }
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  Nursery& nursery() { return nursery_; }
  // From submit to the worker's hands, in microseconds.
  std::vector<double>& dispatch_micros() { return dispatch_micros_; }

 private:
  Task<void> start();
  Task<bus::Verdict> work(const WorkerId& worker, bus::Delivery delivery);
  Task<void> answer(std::string job, std::string packet);
  void beat(const WorkerId& worker, int capacity);

  std::string folder_;
  bool own_folder_ = false;
  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  NoLog log_;
  gate::TopicGate gate_;
  std::unique_ptr<store::RocksStore> store_;
  std::unique_ptr<bus::LocalBus> bus_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::vector<std::unique_ptr<bus::Subscription>> subscriptions_;
  struct Life {
    std::chrono::steady_clock::time_point submitted;
    std::optional<Completer<Result<void>>> ended;
  };
  std::unordered_map<std::string, Life> lives_;
  std::vector<double> dispatch_micros_;
  uint64_t submitted_ = 0;
  const SubmitForm served_{"job.default"};
  const SubmitForm unserved_{"job.nobody"};
  std::string run_name_;
  Nursery nursery_;
};

}  // namespace fairlead::bench
