// What is in deploy/: the servers start with these files, replicas start as the service unit says,
// and jobs run on them, also when one server of three is lost.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <poll.h>

#include "tests/cluster/cluster_load.h"
#include "tests/cluster/replica_process.h"
#include "tests/load/server_process.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::string deployed(const std::string& name) {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  return (std::filesystem::path(source ? source : ".") / "deploy" / name).string();
}

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  return std::regex_replace(text, std::regex(what), by);
}

// NAME=VALUE lines of a file for `EnvironmentFile=`.
Variables variables_in(const std::string& path) {
  Variables found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t mark = line.find('=');
    if (!line.starts_with('#') && mark != line.npos) {
      found[line.substr(0, mark)] = line.substr(mark + 1);
    }
  }
  return found;
}

// A replica as systemd would start it: the command and the environment of the unit, with the
// program that was built and servers and ports of the test in the places of those on a real
// machine.
class Service {
 public:
  explicit Service(const std::string& instance)
      : variables_(variables_in(deployed("systemd/serve.env"))) {
    std::ifstream unit(deployed("systemd/fairlead-serve@.service"));
    for (std::string line; std::getline(unit, line);) {
      line = replaced(replaced(line, "%l", "machine"), "%i", instance);
      read(line, "ExecStart=", command_);
      std::string setting;
      read(line, "Environment=", setting);
      if (const size_t mark = setting.find('='); mark != setting.npos) {
        variables_[setting.substr(0, mark)] = setting.substr(mark + 1);
      }
    }
    command_ = replaced(command_, "^/usr/local/bin/fairlead", load::fairlead_program());
    variables_["FAIRLEAD_LISTEN_API"] = "127.0.0.1:0";
    variables_["FAIRLEAD_LISTEN_METRICS"] = "127.0.0.1:0";
    variables_["FAIRLEAD_RATE_LIMIT"] = "0";
    variables_["FAIRLEAD_PUBLIC_RATE_LIMIT"] = "0";
    variables_.erase("CORDUM_API_KEYS");
  }

  std::unique_ptr<ReplicaProcess> start(const std::string& nats, const std::string& redis,
                                        Variables more = {}) const {
    more.merge(Variables{{"NATS_URL", nats}, {"REDIS_URL", redis}});
    more.merge(Variables(variables_));
    std::istringstream words(command_);
    return std::make_unique<ReplicaProcess>(
        std::vector<std::string>(std::istream_iterator<std::string>(words), {}), more);
  }

  const Variables& variables() const { return variables_; }

 private:
  static void read(const std::string& line, const std::string& name, std::string& into) {
    if (line.starts_with(name)) into = line.substr(name.size());
  }

  std::string command_;
  Variables variables_;
};

// While servers elect a leader, or a replica looks for its new Redis, answers may be errors and
// results may not be stored: both are asked for again, as any client would.
void expect_jobs_run(ClusterLoad& load, const ReplicaProcess& replica, size_t count) {
  const auto patience = std::chrono::steady_clock::now() + 60s;
  const size_t wanted = load.acknowledged().size() + count;
  while (load.acknowledged().size() < wanted && std::chrono::steady_clock::now() < patience) {
    load.submit(replica.api(), wanted - load.acknowledged().size());
    load.run_for(100ms);
  }
  EXPECT_EQ(load.acknowledged().size(), wanted);
  while (!load.all_succeed(replica.api(), 2s)) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "not all have succeeded";
    load.tell_results_again();
  }
}

TEST(Deploy, OneNatsAndOneRedisCarryJobsAndKeepThem) {
  NatsServerProcess nats({.file = deployed("nats/single.conf")});
  RedisServerProcess redis({}, deployed("redis/single.conf"));
  EXPECT_EQ(redis.ask({"CONFIG", "GET", "appendfsync"}).texts().at(1), "always");
  EXPECT_EQ(redis.ask({"CONFIG", "GET", "maxmemory-policy"}).texts().at(1), "noeviction");
  const Service service("1");
  EXPECT_EQ(service.variables().at("FAIRLEAD_INSTANCE"), "machine-1");
  auto replica = service.start(nats.url(), redis.url());
  EXPECT_THAT(replica->ready_line(), HasSubstr("scheduler and gateway, bus JetStream"));
  ClusterLoad load(nats.port(), 2, 50);
  load.run_for(500ms);
  expect_jobs_run(load, *replica, 20);
  EXPECT_EQ(replica->stop(), 0);
}

TEST(Deploy, ANatsOfThreeMayBeLost) {
  std::vector<std::string> routes;
  for (int i = 0; i < 3; ++i) {
    routes.push_back("nats://127.0.0.1:" + std::to_string(free_port()));
  }
  std::vector<std::unique_ptr<NatsServerProcess>> servers;
  std::string urls;
  for (size_t i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<NatsServerProcess>(
        NatsServerOptions{.file = deployed("nats/cluster.conf"),
                          .flags = {"--cluster", routes[i]},
                          .variables = {{"NATS_NAME", "nats-" + std::to_string(i)},
                                        {"NATS_PEER_1", routes[(i + 1) % 3]},
                                        {"NATS_PEER_2", routes[(i + 2) % 3]}}}));
    urls += (urls.empty() ? "" : ",") + servers.back()->url();
  }
  const auto elected_by = std::chrono::steady_clock::now() + 30s;
  while (!load::get(servers[0]->monitor_port(), "/jsz").contains("\"leader\": \"nats-")) {
    ASSERT_LT(std::chrono::steady_clock::now(), elected_by) << "they have no leader";
    ::poll(nullptr, 0, 50);
  }
  RedisServerProcess redis({}, deployed("redis/single.conf"));
  auto replica = Service("1").start(urls, redis.url(), {{"NATS_JS_REPLICAS", "3"}});
  ClusterLoad load(servers[1]->port(), 2, 50);
  load.run_for(500ms);
  expect_jobs_run(load, *replica, 20);
  servers[0]->kill();
  expect_jobs_run(load, *replica, 20);
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

TEST(Deploy, ARedisOfThreeMayBeLost) {
  NatsServerProcess nats({.file = deployed("nats/single.conf")});
  const std::string file = deployed("redis/replicated.conf");
  RedisServerProcess first({}, file);
  const RedisServerProcess::Words follow = {"--replicaof", "127.0.0.1",
                                            std::to_string(first.port())};
  RedisServerProcess second(follow, file);
  RedisServerProcess third(follow, file);
  first.ask_until({"INFO", "replication"}, "min_slaves_good_slaves:2");

  std::ostringstream text;
  text << std::ifstream(deployed("redis/sentinel.conf")).rdbuf();
  const std::string watch =
      replaced(text.str(), "10\\.0\\.0\\.1 6379", "127.0.0.1 " + std::to_string(first.port()));
  std::vector<std::unique_ptr<RedisServerProcess>> sentinels;
  std::string places;
  for (int i = 0; i < 3; ++i) {
    const auto own = first.folder() / ("sentinel-" + std::to_string(i) + ".conf");
    std::ofstream(own) << watch;
    sentinels.push_back(
        std::make_unique<RedisServerProcess>(RedisServerProcess::Words{own.string()}));
    places += (places.empty() ? "" : ",") + sentinels.back()->url().substr(8);
  }
  for (auto& sentinel : sentinels) {
    sentinel->ask_until({"INFO", "sentinel"}, "slaves=2,sentinels=3");
  }

  auto replica = Service("1").start(nats.url(), "redis-sentinel://" + places + "/fairlead");
  ClusterLoad load(nats.port(), 2, 50);
  load.run_for(500ms);
  expect_jobs_run(load, *replica, 20);
  first.kill();
  sentinels.front()->ask_until({"INFO", "sentinel"}, "name=fairlead,status=ok");
  expect_jobs_run(load, *replica, 20);
}

TEST(Deploy, SystemdUnderstandsTheUnit) {
  if (!std::filesystem::exists("/usr/bin/systemd-analyze")) {
    GTEST_SUCCEED() << "there is no systemd here";
    return;
  }
  edge::Child verify(
      {"systemd-analyze", "verify", "--man=no", deployed("systemd/fairlead-serve@.service")}, {});
  verify.wait();
  // The program is not installed here; nothing else may be wrong.
  std::istringstream lines(verify.output());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, HasSubstr("/usr/local/bin/fairlead is not executable"));
  }
}

}  // namespace
}  // namespace fairlead::cluster
