// What docs/cluster.md says of running a cluster: trying one, replacing replicas under load, and
// coming back from a backup.
#include <csignal>
#include <filesystem>
#include <regex>

#include <gmock/gmock.h>

#include "tests/cluster/cluster_load.h"
#include "tests/cluster/replica_process.h"
#include "tests/edge/child.h"
#include "tests/load/server_process.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ResultOf;

// What the first group of the pattern is wherever it is found.
std::vector<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return {std::sregex_token_iterator(text.begin(), text.end(), regex, 1), {}};
}

bool anybody_listens(const std::string& port) {
  load::asio::io_context context;
  load::asio::ip::tcp::socket socket(context);
  boost::system::error_code error;
  const auto loopback = load::asio::ip::address_v4::loopback();
  socket.connect({loopback, static_cast<uint16_t>(std::stoi(port))}, error);
  return !error;
}

TEST(Operations, AClusterToTryRunsThreeJobsAndIsGoneAfterCtrlC) {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  const auto dev = std::filesystem::path(source ? source : ".") / "dev";
  // Where tests run in the background, interrupts may be ignored.
  edge::Child cluster({"env", "--default-signal=INT", dev.string(), "cluster", "--program",
                       std::filesystem::absolute(load::fairlead_program()).string()},
                      {});
  // There is an empty line before its advice; at the end all are.
  std::string line;
  for (int empty = 0; empty < 2 && !line.starts_with("Ctrl-C stops");) {
    line = cluster.line();
    if (line.empty()) ++empty;
  }
  EXPECT_EQ(found_in(cluster.output(), "job \\S+ over replica (\\d): .*SUCCEEDED"),
            std::vector<std::string>({"1", "2", "3"}))
      << cluster.output();
  const auto folders = found_in(cluster.output(), "on port \\d+, in (\\S+)");
  const auto ports = found_in(cluster.output(), "(?:port |127\\.0\\.0\\.1:)(\\d+)");
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folders.front()));
  EXPECT_GE(ports.size(), 8u) << "NATS, Redis, and two of each replica";
  EXPECT_THAT(ports, Each(ResultOf(anybody_listens, true)));

  cluster.signal(SIGINT);
  EXPECT_EQ(cluster.wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(folders.front()));
  EXPECT_THAT(ports, Each(ResultOf(anybody_listens, false)));
}

TEST(Operations, ReplicasAreReplacedOneByOneAndEveryJobRunsOnce) {
  Servers servers;
  std::vector<std::unique_ptr<ReplicaProcess>> replicas;
  replicas.push_back(std::make_unique<ReplicaProcess>(servers, "old-0"));
  replicas.push_back(std::make_unique<ReplicaProcess>(servers, "old-1"));
  ClusterLoad load(servers.nats.port(), 2, 200);
  load.run_for(500ms);
  for (size_t i = 0; i < 2; ++i) {
    const ReplicaProcess& other = *replicas[1 - i];
    load.hold_results(true);
    load.submit(replicas[i]->api(), 50);
    load.submit(other.api(), 50);
    EXPECT_EQ(replicas[i]->stop(), 0);
    load.submit(other.api(), 50);
    load.hold_results(false);
    replicas[i] = std::make_unique<ReplicaProcess>(servers, "new-" + std::to_string(i));
  }
  load.submit(replicas[0]->api(), 50);
  EXPECT_EQ(load.acknowledged().size(), 350u);
  EXPECT_TRUE(load.all_succeed(replicas[1]->api(), 30s));
  for (const auto& [job, epochs] : load.delivered()) EXPECT_EQ(epochs.size(), 1u) << job;
}

TEST(Operations, WhatABackupHoldsGoesOnAfterARestore) {
  Servers servers;
  auto before = std::make_unique<ReplicaProcess>(servers, "before");
  ClusterLoad load(servers.nats.port(), 2, 200);
  load.run_for(500ms);
  load.submit(before->api(), 20);
  EXPECT_TRUE(load.all_succeed(before->api(), 30s));
  load.hold_results(true);
  load.submit(before->api(), 20);
  load.run_for(500ms);

  const auto backup = servers.nats.folder() / "backup.rdb";
  edge::Child copy({"redis-cli", "-p", std::to_string(servers.redis.port()), "--rdb", backup}, {});
  ASSERT_EQ(copy.wait(), 0) << copy.output();
  before->kill();
  servers.redis.kill();

  // A Redis that is told to use an append-only file looks for nothing else: it is turned on later.
  RedisServerProcess redis(
      {"--appendonly", "no", "--dir", servers.nats.folder(), "--dbfilename", "backup.rdb"});
  EXPECT_EQ(redis.text({"CONFIG", "SET", "appendonly", "yes"}), "OK");
  redis.ask_until({"INFO", "persistence"}, "aof_rewrite_in_progress:0");
  redis.ask_until({"INFO", "persistence"}, "aof_last_bgrewrite_status:ok");
  ReplicaProcess after(
      {load::fairlead_program(), "serve", "--role", "scheduler,gateway", "--nats-jetstream",
       "--nats-url", servers.nats.url(), "--redis-url", redis.url(), "--listen-api", "127.0.0.1:0",
       "--listen-metrics", "127.0.0.1:0", "--public-rate-limit", "0"},
      {});
  load.hold_results(false);
  EXPECT_TRUE(load.all_succeed(after.api(), 30s)) << "those that had ended, and those that ran";
  EXPECT_EQ(load.acknowledged().size(), 40u);
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

}  // namespace
}  // namespace fairlead::cluster
