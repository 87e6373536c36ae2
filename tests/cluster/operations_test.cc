// What docs/cluster.md says of running a cluster: trying one, replacing replicas under load, and
// coming back from a backup.
#include <csignal>
#include <filesystem>
#include <optional>
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

// A replica, and a Redis that can be copied and be lost with all that came after the copy.
class Restore : public testing::Test {
 protected:
  void back_up() {
    edge::Child copy({"redis-cli", "-p", std::to_string(servers_.redis.port()), "--rdb", backup()},
                     {});
    ASSERT_EQ(copy.wait(), 0) << copy.output();
  }
  void lose_redis() {
    before_.kill();
    servers_.redis.kill();
  }
  void restore() {
    // A Redis that is told to use an append-only file looks for nothing else: it is turned on
    // later.
    redis_.emplace(RedisServerProcess::Words{"--appendonly", "no", "--dir", servers_.nats.folder(),
                                             "--dbfilename", backup().filename()});
    EXPECT_EQ(redis_->text({"CONFIG", "SET", "appendonly", "yes"}), "OK");
    redis_->ask_until({"INFO", "persistence"}, "aof_rewrite_in_progress:0");
    redis_->ask_until({"INFO", "persistence"}, "aof_last_bgrewrite_status:ok");
    const std::vector<std::string> words = {load::fairlead_program(),
                                            "serve",
                                            "--role",
                                            "scheduler,gateway",
                                            "--nats-jetstream",
                                            "--nats-url",
                                            servers_.nats.url(),
                                            "--redis-url",
                                            redis_->url(),
                                            "--listen-api",
                                            "127.0.0.1:0",
                                            "--listen-metrics",
                                            "127.0.0.1:0",
                                            "--public-rate-limit",
                                            "0"};
    after_.emplace(words, std::map<std::string, std::string>{});
  }
  std::filesystem::path backup() const { return servers_.nats.folder() / "backup.rdb"; }

  // Asks for as long as the answer lacks the text.
  bool says(const std::string& path, const std::string& text) {
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (!load::get(after_->api(), path).contains(text)) {
      if (std::chrono::steady_clock::now() > patience) return false;
      load_.run_for(50ms);
    }
    return true;
  }

  Servers servers_;
  ReplicaProcess before_{servers_, "before"};
  ClusterLoad load_{servers_.nats.port(), 2, 200};
  std::optional<RedisServerProcess> redis_;
  std::optional<ReplicaProcess> after_;
};

TEST_F(Restore, WhatABackupHoldsGoesOn) {
  load_.run_for(500ms);
  load_.submit(before_.api(), 20);
  EXPECT_TRUE(load_.all_succeed(before_.api(), 30s));
  load_.hold_results(true);
  load_.submit(before_.api(), 20);
  load_.run_for(500ms);
  back_up();
  lose_redis();
  restore();
  load_.hold_results(false);
  EXPECT_TRUE(load_.all_succeed(after_->api(), 30s)) << "those that had ended, and those that ran";
  EXPECT_EQ(load_.acknowledged().size(), 40u);
  EXPECT_EQ(load_.repeated_epochs(), 0u);
}

TEST_F(Restore, WhatABackupLacksIsGoneAndItsResultsAreDeadLetters) {
  load_.run_for(500ms);
  load_.hold_results(true);
  back_up();
  load_.submit(before_.api(), 1);
  load_.run_for(500ms);
  ASSERT_EQ(load_.delivered().size(), 1u);
  const std::string job = load_.delivered().begin()->first;
  lose_redis();
  restore();
  EXPECT_TRUE(says("/api/v1/jobs/" + job, "not_found"));
  load_.hold_results(false);
  EXPECT_TRUE(says("/api/v1/dlq", job));
  EXPECT_TRUE(says("/api/v1/dlq", "unknown_job"));
}

TEST_F(Restore, WhatRanAndHadNotEndedInTheBackupEndsWithTheResultThatTheStreamKept) {
  load_.run_for(500ms);
  load_.hold_results(true);
  load_.submit(before_.api(), 1);
  load_.run_for(500ms);
  ASSERT_EQ(load_.delivered().size(), 1u);
  const std::string job = load_.delivered().begin()->first;
  back_up();
  lose_redis();
  load_.hold_results(false);
  load_.run_for(500ms);
  restore();
  EXPECT_TRUE(says("/api/v1/jobs/" + job, "SUCCEEDED"));
}

}  // namespace
}  // namespace fairlead::cluster
