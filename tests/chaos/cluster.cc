#include "tests/chaos/cluster.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/check.h"
#include "tests/load/server_process.h"

namespace fairlead::chaos {

namespace {

std::string text_of(const load::Endpoint& place) {
  return fmt::format("{}:{}", place.host, place.port);
}

}  // namespace

Cluster::Cluster(Network& network, const ClusterOptions& options)
    : network_(network), options_(options) {
  add_servers();
  for (int i = 1; i <= options.replicas; ++i) add_replica(fmt::format("replica-{}", i));
  for (int i = 1; i <= options.worker_processes; ++i) add_workers(fmt::format("workers-{}", i));
}

load::Endpoint Cluster::place(const std::string& name) {
  return places_.emplace(name, network_.add(name)).first->second;
}

void Cluster::add(const std::string& name, std::vector<std::string> words) {
  nodes_.push_back(std::make_unique<Node>(network_, name, std::move(words), file(name + ".log")));
}

void Cluster::add_servers() {
  const load::Endpoint nats = place(Cast::kNats);
  std::ofstream config(file("nats.conf"));
  config << "listen: \"" << text_of(nats) << "\"\n";
  if (options_.jetstream) config << "jetstream { store_dir: \"" << file("nats") << "\" }\n";
  config.close();
  add(Cast::kNats, {"/usr/sbin/nats-server", "-c", file("nats.conf")});

  const load::Endpoint redis = place(Cast::kRedis);
  add(Cast::kRedis, {"redis-server", "--bind", redis.host, "--port", std::to_string(redis.port),
                     "--protected-mode", "no", "--dir", options_.folder, "--appendonly", "yes",
                     "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"});
}

void Cluster::add_replica(const std::string& name) {
  const load::Endpoint api = place(name);
  std::vector<std::string> words = {load::fairlead_program()};
  if (!options_.planted.empty()) words = {PLANTED_PROGRAM, options_.planted};
  words.insert(words.end(), {"serve",
                             "--role",
                             "scheduler,gateway",
                             "--instance",
                             name,
                             "--listen-api",
                             text_of(api),
                             "--listen-metrics",
                             "127.0.0.1:0",
                             "--api-key",
                             kApiKey,
                             "--rate-limit",
                             "0",
                             "--nats-url",
                             "nats://" + text_of(network_.route(name, Cast::kNats)),
                             "--redis-url",
                             "redis://" + text_of(network_.route(name, Cast::kRedis)),
                             "--dispatch-timeout",
                             "90",
                             "--running-timeout",
                             std::to_string(options_.job_timeout_s)});
  if (options_.jetstream) words.emplace_back("--nats-jetstream");
  add(name, std::move(words));
  replicas_.push_back(name);
}

void Cluster::add_workers(const std::string& name) {
  place(name);
  const load::Endpoint nats = network_.route(name, Cast::kNats);
  add(name, {CHAOS_PROGRAM, "--workers", name, nats.host, std::to_string(nats.port),
             file(name + ".ledger"), options_.jetstream ? "jetstream" : "core"});
  workers_.push_back(name);
}

void Cluster::start_all() {
  for (auto& node : nodes_) node->start();
}

Node& Cluster::node(const std::string& name) {
  const auto found =
      std::ranges::find_if(nodes_, [&](const auto& node) { return node->name() == name; });
  check(found != nodes_.end(), "there is such a node");
  return **found;
}

std::vector<Node*> Cluster::nodes() {
  std::vector<Node*> all;
  for (auto& node : nodes_) all.push_back(node.get());
  return all;
}

Cast Cluster::cast() const {
  return {.replicas = replicas_, .workers = workers_};
}

bool Cluster::is_up(const std::string& name) {
  if (!node(name).runs()) return false;
  if (is_worker(name)) return true;
  load::asio::io_context context;
  return std::make_shared<load::Wire>(context)->connect(places_.at(name));
}

bool Cluster::is_worker(const std::string& name) const {
  return std::ranges::find(workers_, name) != workers_.end();
}

std::vector<load::Endpoint> Cluster::apis() const {
  std::vector<load::Endpoint> all;
  for (const std::string& replica : replicas_) all.push_back(places_.at(replica));
  return all;
}

std::vector<std::string> Cluster::ledgers() const {
  std::vector<std::string> all;
  for (const std::string& name : workers_) all.push_back(file(name + ".ledger"));
  return all;
}

}  // namespace fairlead::chaos
