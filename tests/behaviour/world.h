// The world of one story: a scheduler wired as the server wires it, on a loop in virtual time, with
// clients and workers that do what the story says.
//
//   client ──submit, cancel──► LocalBus ──► Scheduler ──► StoryBus ──► LocalBus ──► StoryWorker
//                                  │            │
//                                  └────────────┴──► StoryStore ──► MemoryStore or RocksStore
//
// A crash ends the process: scheduler and bus are dropped where they are; of the store that which
// is on disk stays (the memory store stands for the disk). Workers reconnect at the restart.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cordum/agent/v1/job.pb.h"
#include "runtime/nursery.h"
#include "runtime/simulated_loop.h"
#include "scheduler/metrics.h"
#include "scheduler/settings.h"
#include "tests/behaviour/story_bus.h"
#include "tests/behaviour/story_clock.h"
#include "tests/behaviour/story_gate.h"
#include "tests/behaviour/story_log.h"
#include "tests/behaviour/story_store.h"
#include "tests/behaviour/story_worker.h"

namespace fairlead::behaviour {

enum class StoreKind { kMemory, kRocksDb };

// What a client was told about its submit.
enum class SubmitAnswer { kNone, kStored, kRefused, kUnknown };

class World {
 public:
  explicit World(StoreKind kind);
  ~World();

  // --- Before the first start
  // ---------------------------------------------------------------------
  scheduler::Settings settings;
  void map_topic(const std::string& topic, const std::vector<std::string>& pools);
  void describe_pool(const std::string& pool, const std::vector<std::string>& capabilities,
                     const std::string& status);

  // --- The scheduler's process
  // --------------------------------------------------------------------
  Result<void> start();
  void crash();
  bool up() const { return process_ != nullptr; }
  bool ever_started() const { return ever_started_; }
  // Gives changed pools to the running scheduler.
  Result<void> reload_pools();

  // --- Time
  // --------------------------------------------------------------------------------------- Runs
  // everything that can run now, and waits for the store.
  void settle();
  void advance(Duration duration);

  // --- Clients and workers
  // ------------------------------------------------------------------------ REQUIRES of all: the
  // process is up.
  void submit(const cap::JobRequest& request, const std::string& trace);
  // The same bytes once more, as a stream would after a lost acknowledgement.
  bool submit_again(const std::string& job);
  void answer(const cap::JobResult& result);
  bool answer_again(const std::string& job);
  void publish(const std::string& subject, std::string payload);
  // Made when it is not known yet.
  StoryWorker& worker(const std::string& id);
  Result<void> connect(StoryWorker& worker);
  StoryWorker* find_worker(const std::string& id);
  SubmitAnswer submit_answer(const std::string& job) const;

  // --- What is there
  // ------------------------------------------------------------------------------
  Result<store::Snapshot> record(const std::string& job);
  Result<std::optional<store::DeadLetter>> dead_letter(const std::string& job);

  const scheduler::Metrics& metrics() const;

  SimulatedLoop loop;
  StoryClock clock{loop};
  StoryGate gate{loop};
  StoryLog log;
  StoryBus bus;
  StoryStore store;

 private:
  // What a crash ends, and what stands for the disk.
  struct Process;
  struct Disk;
  struct PoolText {
    std::vector<std::string> capabilities;
    std::string status = "active";
  };

  std::string pools_yaml() const;
  Result<void> start_process();
  void send_submit(std::string job, std::string packet);
  Task<void> keep_submit_answer(Future<Result<bus::Published>> answer, std::string job);

  // Run an operation to its end, in no virtual time. REQUIRES: it needs none.
  template <class T>
  T wait(Future<T> future);
  template <class T>
  T wait(Task<T> task);

  bool ever_started_ = false;
  std::map<std::string, std::vector<std::string>> topics_;
  std::map<std::string, PoolText> pools_;

  std::map<std::string, std::string> submits_;  // packets by job
  std::map<std::string, std::string> answers_;
  std::map<std::string, SubmitAnswer> submit_answers_;
  std::map<std::string, std::unique_ptr<StoryWorker>> workers_;

  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Process> process_;
  Nursery tasks_;
};

}  // namespace fairlead::behaviour
