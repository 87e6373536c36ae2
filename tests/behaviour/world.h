// The world of one story: a scheduler wired as the server wires it, on a loop in virtual time, with
// clients and workers that do what the story says.
//
//   client ──submit, cancel──► LocalBus ──► Scheduler ──► StoryBus ──► LocalBus ──► StoryWorker
//                                  │            │
//                                  └────────────┴──► StoryStore ──► the store of the mode
//
// wiring.h says what store and bus are in each mode. A crash ends the process: scheduler and bus
// are dropped where they are; what the disk or the servers have stays. Workers reconnect at the
// restart.
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
#include "scheduler/scheduler.h"
#include "scheduler/settings.h"
#include "tests/behaviour/story_bus.h"
#include "tests/behaviour/story_clock.h"
#include "tests/behaviour/story_gate.h"
#include "tests/behaviour/story_log.h"
#include "tests/behaviour/story_store.h"
#include "tests/behaviour/story_worker.h"
#include "tests/behaviour/wiring.h"

namespace fairlead::behaviour {

// What a client was told about its submit.
enum class SubmitAnswer { kNone, kStored, kRefused, kUnknown };

class World {
 public:
  explicit World(Mode mode);
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
  bool up() const { return up_; }
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
  bool up_ = false;
  std::map<std::string, std::vector<std::string>> topics_;
  std::map<std::string, PoolText> pools_;

  std::map<std::string, std::string> submits_;  // packets by job
  std::map<std::string, std::string> answers_;
  std::map<std::string, SubmitAnswer> submit_answers_;
  std::map<std::string, std::unique_ptr<StoryWorker>> workers_;

  SeededRandom random_{1};  // not of the process, so that each has a name of its own
  std::unique_ptr<Wiring> wiring_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  Nursery tasks_;
};

}  // namespace fairlead::behaviour
