// What docs/cluster.md says of running a cluster: replacing replicas under load, and coming back
// from a backup.
#include <gmock/gmock.h>

#include "tests/cluster/cluster_load.h"
#include "tests/cluster/replica_process.h"
#include "tests/edge/child.h"
#include "tests/load/server_process.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;

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
