// The processes of a campaign, each in its place: NATS, Redis, three replicas, and workers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/network.h"
#include "tests/chaos/node.h"
#include "tests/chaos/script.h"

namespace fairlead::chaos {

struct ClusterOptions {
  std::string folder;
  bool jetstream = true;
  int replicas = 3;
  int worker_processes = 3;
  int job_timeout_s = 45;
  std::string planted{};  // a bug of base/planted.h in every replica; empty: none
};

class Cluster {
 public:
  Cluster(Network& network, const ClusterOptions& options);

  void start_all();

  Network& network() { return network_; }
  Node& node(const std::string& name);
  std::vector<Node*> nodes();
  // Of all that may suffer.
  Cast cast() const;
  // Whether it takes connections; of workers, whether it runs.
  bool is_up(const std::string& name);
  bool is_worker(const std::string& name) const;

  load::Endpoint nats() { return places_.at(Cast::kNats); }
  load::Endpoint redis() { return places_.at(Cast::kRedis); }
  std::vector<load::Endpoint> apis() const;
  // Where workers write down what they get.
  std::vector<std::string> ledgers() const;

  static constexpr const char* kApiKey = "chaos";

 private:
  load::Endpoint place(const std::string& name);
  void add(const std::string& name, std::vector<std::string> words);
  void add_servers();
  void add_replica(const std::string& name);
  void add_workers(const std::string& name);
  std::string file(const std::string& name) const { return options_.folder + "/" + name; }

  Network& network_;
  const ClusterOptions options_;
  std::map<std::string, load::Endpoint> places_;
  std::vector<std::string> replicas_;
  std::vector<std::string> workers_;
  std::vector<std::unique_ptr<Node>> nodes_;  // servers first
};

}  // namespace fairlead::chaos
