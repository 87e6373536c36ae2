// Jobs on a cluster, a given number in flight at any time, and how long they took. A job is in
// flight until its end is committed, which shows in the scheduler's answer to the stream that
// brought the result: it acknowledges what it has committed.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "bench/submit_form.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_worker.h"
#include "tests/load/reactor.h"

namespace fairlead::bench {

class ClusterLives {
 public:
  using Clock = std::chrono::steady_clock;

  // Jobs go over these APIs in turn; over the bus when there are none.
  ClusterLives(uint16_t nats, const std::vector<uint16_t>& apis);

  // So many are in flight from now on; of 0, those that are may end.
  void set_in_flight(size_t count);
  void run_for(Clock::duration duration) { context_.run_for(duration); }
  // Returns whether all have ended by then.
  bool run_until_ended(Clock::duration patience);

  uint64_t ended() const { return ended_; }
  void forget_times();
  std::vector<double>& to_worker_ms() { return to_worker_ms_; }
  std::vector<double>& to_end_ms() { return to_end_ms_; }

  load::asio::io_context& context() { return context_; }

 private:
  // What is known of a job; its submitter may hear of it last.
  struct Life {
    std::optional<Clock::time_point> submitted, with_worker, ended;
  };

  void add_workers(uint16_t nats);
  void fill();
  void submit_over_bus();
  void submit_over_api();
  void work(load::NatsWorker& worker, std::string_view packet);
  void hear_stored(std::string_view job, uint64_t sequence);
  void hear_answered(uint64_t sequence);
  void end(const std::string& job);
  void close_if_known(const std::string& job, const Life& life);
  void beat();

  load::Reactor context_;
  load::asio::steady_timer timer_{context_};
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  load::NatsClient bus_{context_, "bench"};
  std::vector<std::unique_ptr<load::HttpClient>> clients_;
  std::deque<load::HttpClient*> idle_;
  const SubmitForm form_{"job.default"};
  std::string run_name_;
  uint64_t submitted_ = 0;
  uint64_t ended_ = 0;
  size_t in_flight_ = 0;
  size_t in_flight_max_ = 0;
  std::unordered_map<std::string, Life> lives_;
  // Of results: those stored and not answered, and those whose answer was heard first.
  std::unordered_map<uint64_t, std::string> stored_;
  std::unordered_set<uint64_t> answered_first_;
  std::vector<double> to_worker_ms_;
  std::vector<double> to_end_ms_;
};

}  // namespace fairlead::bench
