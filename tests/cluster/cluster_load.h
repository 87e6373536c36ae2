// For tests of a cluster: clients that submit jobs over the API of any replica, and workers that
// listen at NATS, with a note of all that they saw.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "tests/load/http_client.h"
#include "tests/load/nats_worker.h"
#include "tests/load/reactor.h"

namespace fairlead::cluster {

class ClusterLoad {
 public:
  using Clock = std::chrono::steady_clock;

  // Workers of pool default, each with this capacity.
  ClusterLoad(uint16_t nats_port, int workers, int capacity);

  // Submits over this API, one request at a time for each of `clients`, until `count` are
  // acknowledged or the API goes away.
  void submit(uint16_t api, size_t count, int clients = 16);
  // Lets things happen for a while.
  void run_for(Clock::duration duration) { context_.run_for(duration); }

  // Whether all acknowledged jobs succeed by then, as this API tells.
  bool all_succeed(uint16_t api, Clock::duration patience);

  const std::set<std::string>& acknowledged() const { return acknowledged_; }
  // Jobs that workers got, each with the epochs in which they got it.
  const std::map<std::string, std::vector<uint64_t>>& delivered() const { return delivered_; }
  // Epochs that were handed out twice.
  size_t repeated_epochs() const;
  // Workers finish their jobs when they get them, or only when told again.
  void hold_results(bool hold);
  // Workers publish again what no stream has said to have stored.
  void tell_results_again();

 private:
  void work(load::NatsWorker& worker, std::string_view packet);
  void beat();

  load::Reactor context_;
  load::asio::steady_timer timer_{context_};
  uint16_t nats_port_;
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  std::set<std::string> acknowledged_;
  std::map<std::string, std::vector<uint64_t>> delivered_;
  bool holding_ = false;
  std::deque<std::pair<load::NatsWorker*, std::string>> held_;
};

}  // namespace fairlead::cluster
