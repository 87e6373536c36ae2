// What is in deploy/: the servers start with these files, replicas start as the service unit says,
// and jobs run on them, also when one server of three is lost.
#include <algorithm>
#include <csignal>
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

constexpr char kPassword[] = "a-password";
constexpr char kToken[] = "a-token";

std::string deployed(const std::string& name) {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  return (std::filesystem::path(source ? source : ".") / "deploy" / name).string();
}

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  return std::regex_replace(text, std::regex(what), by);
}

// A file of deploy/ with a password where one is missing, for as long as it lives.
class Filled {
 public:
  explicit Filled(const std::string& name, const std::string& master = "10.0.0.1 6379") {
    std::string pattern = testing::TempDir() + "fairlead-deploy-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::ostringstream text;
    text << std::ifstream(deployed(name)).rdbuf();
    const std::string lines =
        replaced(text.str(), "(requirepass|masterauth|sentinel-pass|auth-pass fairlead)\n",
                 std::string("$1 ") + kPassword + "\n");
    std::ofstream(path()) << replaced(
        replaced(lines, "PASSWORD-IS-MISSING", std::string(">") + kPassword), "10\\.0\\.0\\.1 6379",
        master);
  }
  ~Filled() { std::filesystem::remove_all(folder_); }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

  std::string path() const { return (folder_ / "server.conf").string(); }

 private:
  std::filesystem::path folder_;
};

// Clients of this process show the token of nats/*.conf.
class Token {
 public:
  Token() { ::setenv("NATS_TOKEN", kToken, 1); }
  ~Token() { ::unsetenv("NATS_TOKEN"); }
};

// A Redis as one of deploy/ says, to which this test is known.
class Redis : public RedisServerProcess {
 public:
  explicit Redis(const std::string& name, const Words& options = {})
      : RedisServerProcess(options, Filled(name).path()) {
    EXPECT_EQ(text({"AUTH", kPassword}), "OK");
  }
  std::string url() const {
    return replaced(RedisServerProcess::url(), "//", std::string("//:") + kPassword + "@");
  }
};

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
  }

  std::unique_ptr<ReplicaProcess> start(const std::string& nats, const std::string& redis,
                                        Variables more = {}) const {
    more.merge(Variables{{"NATS_URL", nats}, {"NATS_TOKEN", kToken}, {"REDIS_URL", redis}});
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
  const Token token;
  NatsServerProcess nats({.file = deployed("nats/single.conf")});
  Redis redis("redis/single.conf");
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

// Streams are placed by the leader, on those that it has heard of.
bool leads_two_more(const NatsServerProcess& nats) {
  const std::string told = load::get(nats.monitor_port(), "/jsz");
  const std::regex current(R"("current": true)");
  return std::distance(std::sregex_iterator(told.begin(), told.end(), current), {}) == 2 &&
         !told.contains("\"offline\": true");
}

TEST(Deploy, ANatsOfThreeMayBeLost) {
  const Token token;
  std::vector<std::string> routes;
  for (int i = 0; i < 3; ++i) {
    routes.push_back(std::string("nats://route:") + kPassword +
                     "@127.0.0.1:" + std::to_string(free_port()));
  }
  std::vector<std::unique_ptr<NatsServerProcess>> servers;
  std::string urls;
  for (size_t i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<NatsServerProcess>(
        NatsServerOptions{.file = deployed("nats/cluster.conf"),
                          .flags = {"--cluster", routes[i]},
                          .variables = {{"NATS_NAME", "nats-" + std::to_string(i)},
                                        {"NATS_ROUTE_PASSWORD", kPassword},
                                        {"NATS_PEER_1", routes[(i + 1) % 3]},
                                        {"NATS_PEER_2", routes[(i + 2) % 3]}}}));
    urls += (urls.empty() ? "" : ",") + servers.back()->url();
  }
  const auto met_by = std::chrono::steady_clock::now() + 30s;
  while (!std::ranges::any_of(servers, [](const auto& each) { return leads_two_more(*each); })) {
    ASSERT_LT(std::chrono::steady_clock::now(), met_by) << "they do not find each other";
    ::poll(nullptr, 0, 50);
  }
  Redis redis("redis/single.conf");
  auto replica = Service("1").start(urls, redis.url(), {{"NATS_JS_REPLICAS", "3"}});
  ClusterLoad load(servers[1]->port(), 2, 50);
  load.run_for(500ms);
  expect_jobs_run(load, *replica, 20);
  servers[0]->kill();
  expect_jobs_run(load, *replica, 20);
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

TEST(Deploy, ARedisOfThreeMayBeLost) {
  const Token token;
  NatsServerProcess nats({.file = deployed("nats/single.conf")});
  Redis first("redis/replicated.conf");
  const std::string place = "127.0.0.1 " + std::to_string(first.port());
  const RedisServerProcess::Words follow = {"--replicaof", "127.0.0.1",
                                            std::to_string(first.port())};
  Redis second("redis/replicated.conf", follow);
  Redis third("redis/replicated.conf", follow);
  first.ask_until({"INFO", "replication"}, "min_slaves_good_slaves:2");

  const Filled files[3] = {Filled("redis/sentinel.conf", place),
                           Filled("redis/sentinel.conf", place),
                           Filled("redis/sentinel.conf", place)};
  std::vector<std::unique_ptr<RedisServerProcess>> sentinels;
  std::string places;
  for (const Filled& own : files) {
    sentinels.push_back(
        std::make_unique<RedisServerProcess>(RedisServerProcess::Words{own.path()}));
    places += (places.empty() ? "" : ",") + sentinels.back()->url().substr(8);
  }
  for (auto& sentinel : sentinels) {
    sentinel->ask_until({"INFO", "sentinel"}, "slaves=2,sentinels=3");
  }

  EXPECT_THAT(sentinels.front()->text({"SENTINEL", "FAILOVER", "fairlead"}), HasSubstr("NOPERM"))
      << "who is not known may only ask";
  auto replica = Service("1").start(
      nats.url(), std::string("redis-sentinel://:") + kPassword + "@" + places + "/fairlead");
  ClusterLoad load(nats.port(), 2, 50);
  load.run_for(500ms);
  expect_jobs_run(load, *replica, 20);
  first.kill();
  sentinels.front()->ask_until({"INFO", "sentinel"}, "name=fairlead,status=ok");
  expect_jobs_run(load, *replica, 20);
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

TEST(Deploy, AMasterThatIsCutOffStopsAcknowledging) {
  const Token token;
  NatsServerProcess nats({.file = deployed("nats/single.conf")});
  Redis master("redis/replicated.conf");
  Redis follower("redis/replicated.conf",
                 {"--replicaof", "127.0.0.1", std::to_string(master.port())});
  master.ask_until({"INFO", "replication"}, "min_slaves_good_slaves:1");
  auto replica = Service("1").start(nats.url(), master.url());
  follower.signal(SIGSTOP);
  const auto patience = std::chrono::steady_clock::now() + 30s;
  while (!load::get(replica->metrics(), "/readyz").contains("NOREPLICAS")) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "it goes on for ever";
    ::poll(nullptr, 0, 100);
  }
  follower.signal(SIGCONT);
  while (load::get(replica->metrics(), "/readyz").contains("NOREPLICAS")) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "and begins again with its replica";
    ::poll(nullptr, 0, 100);
  }
}

// What a server says that must not start.
std::string refusal(std::vector<std::string> words, const Variables& variables = {}) {
  words.insert(words.begin(), {"timeout", "--signal=KILL", "30"});
  edge::Child server(words, variables);
  EXPECT_EQ(server.wait(), 1) << server.output();
  return server.output();
}

TEST(Deploy, NoServerStartsBeforeItsSecretsAreSet) {
  for (const char* name : {"redis/single.conf", "redis/replicated.conf"}) {
    EXPECT_THAT(refusal({"redis-server", deployed(name)}), HasSubstr("'requirepass'")) << name;
  }
  EXPECT_THAT(refusal({"redis-server", deployed("redis/sentinel.conf"), "--sentinel"}),
              HasSubstr("PASSWORD-IS-MISSING"));
  for (const char* name : {"nats/single.conf", "nats/cluster.conf"}) {
    EXPECT_THAT(refusal({"/usr/sbin/nats-server", "-c", deployed(name)}, {{"NATS_NAME", "n"}}),
                HasSubstr("'NATS_TOKEN'"))
        << name;
  }
}

TEST(Deploy, NoReplicaServesOthersBeforeItsKeysAreSet) {
  const Servers servers;
  Variables variables = variables_in(deployed("systemd/serve.env"));
  EXPECT_EQ(variables.at("FAIRLEAD_LISTEN_API"), "0.0.0.0:8081");
  variables["FAIRLEAD_LISTEN_API"] = "0.0.0.0:0";
  variables["FAIRLEAD_LISTEN_METRICS"] = "127.0.0.1:0";
  variables["NATS_URL"] = servers.nats.url();
  variables["REDIS_URL"] = servers.redis.url();
  EXPECT_THAT(refusal({load::fairlead_program(), "serve"}, variables), HasSubstr("needs API keys"));
}

TEST(Deploy, NoReplicaStartsWithoutThePasswordOfItsRedis) {
  const NatsServerProcess nats;
  const Redis redis("redis/single.conf");
  Variables variables = variables_in(deployed("systemd/serve.env"));
  variables["NATS_URL"] = nats.url();
  variables["REDIS_URL"] = redis.RedisServerProcess::url();
  EXPECT_THAT(refusal({load::fairlead_program(), "serve"}, variables), HasSubstr("NOAUTH"));
}

TEST(Deploy, SystemdStartsAReplicaAgainHoweverOftenItFindsNoServers) {
  Variables unit = variables_in(deployed("systemd/fairlead-serve@.service"));
  EXPECT_EQ(unit["Restart"], "always");
  EXPECT_EQ(unit["StartLimitIntervalSec"], "0") << "without it five times in ten seconds";
}

std::string text_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(deployed(name)).rdbuf();
  return text.str();
}

// They are to be uncommented, not to be found out.
TEST(Deploy, EveryFileHasTheLinesForTls) {
  for (const char* name : {"nats/single.conf", "nats/cluster.conf"}) {
    EXPECT_THAT(text_of(name), HasSubstr("\n# tls {")) << name;
  }
  EXPECT_THAT(text_of("nats/cluster.conf"), HasSubstr("\n  # tls {")) << "of the routes";
  for (const char* name : {"redis/single.conf", "redis/replicated.conf", "redis/sentinel.conf"}) {
    for (const char* line : {"# port 0", "# tls-port ", "# tls-cert-file ", "# tls-key-file ",
                             "# tls-ca-cert-file "}) {
      EXPECT_THAT(text_of(name), HasSubstr(std::string("\n") + line)) << name;
    }
  }
  for (const char* name : {"redis/replicated.conf", "redis/sentinel.conf"}) {
    EXPECT_THAT(text_of(name), HasSubstr("\n# tls-replication yes")) << name;
  }
  for (const char* line : {"# NATS_URL=tls://", "# NATS_TLS_CA=", "# REDIS_URL=rediss://",
                           "# REDIS_TLS_CA=", "# FAIRLEAD_API_TLS_CERT="}) {
    EXPECT_THAT(text_of("systemd/serve.env"), HasSubstr(line));
  }
}

// The service is nobody: what only root may read it cannot read.
TEST(Deploy, TheServiceIsOfTheGroupThatMayReadItsKeys) {
  EXPECT_THAT(text_of("systemd/fairlead-serve@.service"),
              HasSubstr("\nSupplementaryGroups=fairlead\n"));
  EXPECT_THAT(text_of("systemd/fairlead.sysusers"), HasSubstr("\ng fairlead -\n"));
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
