#include "store/redis/client/client.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/contract/pump_loop.h"
#include "tests/cluster/redis_server_process.h"

namespace fairlead::store::redis {
namespace {

using cluster::RedisServerProcess;
using namespace std::chrono_literals;

constexpr const char* kEchoScript = "return ARGV[1]";
constexpr const char* kSetScript = "return redis.call('SET', ARGV[1], ARGV[2])";

class ClientTest : public testing::Test {
 protected:
  void open(const std::string& url, TlsOptions tls = {}, Duration answer_wait = 3s) {
    auto address = parse_address(url);
    ASSERT_TRUE(address) << address.error().message;
    client_ = std::make_unique<Client>(
        ClientOptions{*address, std::move(tls), {kEchoScript, kSetScript}, 5s, answer_wait}, loop_,
        log_);
    connected_ = client_->wait_until_connected(10s);
  }
  void open() {
    open(server_.url());
    ASSERT_TRUE(connected_) << connected_.error().message;
  }

  Future<Result<std::string>> send(const Command& command) {
    return client_->ask(command,
                        [](Reply reply) -> Result<std::string> { return reply.take_text(); });
  }
  Result<std::string> ask(const Command& command) { return loop_.wait(send(command)); }
  Future<Result<std::string>> echo(const std::string& word) {
    Command command = client_->script(0);
    command.add(word);
    return send(command);
  }
  Command set(const std::string& key, const std::string& value) {
    Command command = client_->script(1);
    command.add(key);
    command.add(value);
    return command;
  }
  // Until the client has a connection again.
  void reconnect() {
    SystemClock real;
    MonotonicTime patience = real.monotonic() + 60s;
    while (!ask(Command("PING"))) {
      loop_.run_ready();
      check(real.monotonic() < patience, "there is a connection again within a minute");
    }
  }

  store::PumpLoop loop_;
  NoLog log_;
  RedisServerProcess server_;
  std::unique_ptr<Client> client_;
  Result<void> connected_;
};

TEST_F(ClientTest, CommandsAreAnsweredInTheOrderOfTheirCalls) {
  open();
  std::vector<Future<Result<std::string>>> answers;
  for (int i = 0; i < 5000; ++i) answers.push_back(send(Command("INCR", "n")));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(loop_.wait(std::move(answers[i])), std::to_string(i + 1));
  }
}

TEST_F(ClientTest, BytesOfAnyKindComeBack) {
  open();
  std::string bytes("a\0\r\n\xff", 5);
  EXPECT_EQ(ask(Command("SET", "k", bytes)), "OK");
  EXPECT_EQ(ask(Command("GET", "k")), bytes);
  std::string large(5 << 20, 'x');
  EXPECT_EQ(ask(Command("SET", "large", large)), "OK");
  EXPECT_EQ(ask(Command("GET", "large")), large);
}

TEST_F(ClientTest, ScriptsAreCalledByTheirHash) {
  open();
  EXPECT_EQ(loop_.wait(echo("word")), "word");
  EXPECT_EQ(server_.text({"INFO", "commandstats"}).find("cmdstat_eval:"), std::string::npos);
}

TEST_F(ClientTest, AServerThatForgotTheScriptsIsGivenThemAgainAndCallsKeepTheirOrder) {
  open();
  ASSERT_EQ(loop_.wait(echo("before")), "before");
  server_.ask({"SCRIPT", "FLUSH"});
  std::vector<Future<Result<std::string>>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(send(set("k", std::to_string(i))));
  for (auto& answer : answers) EXPECT_EQ(loop_.wait(std::move(answer)), "OK");
  EXPECT_EQ(ask(Command("GET", "k")), "99");
}

TEST_F(ClientTest, AnErrorOfTheServerIsOfTheCodeThatSaysWhatToDo) {
  open();
  EXPECT_EQ(ask(Command("NONSENSE")).error().code, ErrorCode::kCorrupt);
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(ask(Command("SET", "k", "v")).error().code, ErrorCode::kFull);
  EXPECT_EQ(loop_.wait(send(set("k", "v"))).error().code, ErrorCode::kFull);
}

TEST_F(ClientTest, WhatWasSentWhenTheServerDiesIsUnknownAndLaterCallsAreUnavailable) {
  open();
  // The server has both, and answers neither: the first waits for an element.
  auto sent = send(Command("BLPOP", "nothing", "0"));
  auto second = send(Command("GET", "k"));
  loop_.run_ready();
  server_.ask_until({"INFO", "clients"}, "blocked_clients:1");
  server_.ask_until({"CLIENT", "LIST"}, "qbuf=20 ");
  server_.kill();
  EXPECT_EQ(loop_.wait(std::move(sent)).error().code, ErrorCode::kUnknown);
  EXPECT_EQ(loop_.wait(std::move(second)).error().code, ErrorCode::kUnknown);
  EXPECT_EQ(ask(Command("GET", "k")).error().code, ErrorCode::kUnavailable);
  server_.restart();
  reconnect();
  EXPECT_EQ(loop_.wait(echo("again")), "again");
}

// Nobody has looked yet whether it is the same server, and has what it had.
TEST_F(ClientTest, WhatWasCalledForALostConnectionIsNotDoneOnTheNext) {
  open();
  ASSERT_EQ(ask(Command("SET", "k", "before")), "OK");
  server_.ask({"CLIENT", "KILL", "TYPE", "normal"});
  // It connects again by itself, while the loop is busy and hears nothing of it.
  server_.ask_until({"INFO", "commandstats"}, "cmdstat_role:calls=2");
  server_.ask_until({"CLIENT", "LIST"}, "name=fairlead");
  auto early = send(Command("SET", "k", "early"));
  std::optional<Result<std::string>> told;
  Nursery nursery;
  auto keep = [&](Future<Result<std::string>> answer) -> Task<void> { told = co_await answer; };
  client_->on_connected([&] { nursery.spawn(keep(send(Command("GET", "k")))); });
  EXPECT_EQ(loop_.wait(std::move(early)).error().code, ErrorCode::kUnavailable);
  loop_.run_until([&] { return told.has_value(); });
  EXPECT_EQ(*told, "before") << "the first call on it";
  EXPECT_EQ(ask(Command("SET", "k", "after")), "OK");
}

TEST_F(ClientTest, AServerThatDoesNotAnswerIsLeftAfterATime) {
  open(server_.url(), {}, 200ms);
  ASSERT_TRUE(connected_);
  server_.signal(SIGSTOP);
  EXPECT_EQ(ask(Command("PING")).error().code, ErrorCode::kUnknown);
  server_.signal(SIGCONT);
  reconnect();
}

TEST_F(ClientTest, AServerThatDoesNotAnswerIsLeftAlsoWhileMoreIsSentToIt) {
  open(server_.url(), {}, 400ms);
  server_.signal(SIGSTOP);
  SystemClock real;
  const MonotonicTime began = real.monotonic();
  std::optional<Result<std::string>> first;
  Nursery nursery;
  auto keep = [&](Future<Result<std::string>> answer) -> Task<void> { first = co_await answer; };
  nursery.spawn(keep(send(Command("PING"))));
  while (!first && real.monotonic() < began + 5s) {
    auto more = send(Command("PING"));
    loop_.run_until_quiet(20ms);
  }
  server_.signal(SIGCONT);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->error().code, ErrorCode::kUnknown);
  reconnect();
}

TEST_F(ClientTest, TooMuchThatWaitsIsPushedBack) {
  open();
  server_.signal(SIGSTOP);
  std::string piece(1 << 20, 'x');
  std::vector<Future<Result<std::string>>> answers;
  for (size_t i = 0; i < limits::kCommitQueueBytesMax / piece.size(); ++i) {
    answers.push_back(send(Command("SET", "k", piece)));
  }
  EXPECT_EQ(ask(Command("SET", "k", "v")).error().code, ErrorCode::kUnavailable);
  server_.signal(SIGCONT);
  for (auto& answer : answers) EXPECT_EQ(loop_.wait(std::move(answer)), "OK");
  EXPECT_EQ(ask(Command("SET", "k", "v")), "OK");
}

TEST_F(ClientTest, ClosingFinishesWhatWasCalled) {
  open();
  {
    auto dropped = send(Command("SET", "k", "v"));
  }
  client_.reset();
  EXPECT_EQ(server_.text({"GET", "k"}), "v");
}

TEST_F(ClientTest, AllAddressesOfANameAreTried) {
  // It listens on one of them only.
  open("redis://localhost:" + std::to_string(server_.port()));
  ASSERT_TRUE(connected_) << connected_.error().message;
  EXPECT_EQ(ask(Command("PING")), "PONG");
}

TEST_F(ClientTest, ASocketInTheFileSystemAndADatabaseCanBeNamed) {
  open("unix://" + server_.socket_path() + "?db=5");
  ASSERT_TRUE(connected_) << connected_.error().message;
  EXPECT_EQ(ask(Command("SET", "k", "v")), "OK");
  server_.ask({"SELECT", "5"});
  EXPECT_EQ(server_.text({"GET", "k"}), "v");
}

TEST_F(ClientTest, AUserOfTheAccessListIsShownToTheServer) {
  server_.ask({"ACL", "SETUSER", "fair", "on", ">lead", "~*", "+@all"});
  open("redis://fair:lead@127.0.0.1:" + std::to_string(server_.port()));
  ASSERT_TRUE(connected_);
  EXPECT_EQ(ask(Command("ACL", "WHOAMI")), "fair");
  client_.reset();
  auto address = parse_address("redis://fair:wrong@127.0.0.1:" + std::to_string(server_.port()));
  Client wrong({*address, {}, {}}, loop_, log_);
  auto refused = wrong.wait_until_connected(300ms);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("WRONGPASS"), std::string::npos);
}

TEST_F(ClientTest, AReadOnlyReplicaIsNotWrittenTo) {
  open();
  RedisServerProcess master;
  server_.ask({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  // What was connected learns it from the answer, and looks for the master from then on.
  Result<std::string> refused = ask(Command("SET", "k", "v"));
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(ask(Command("GET", "k")).error().code, ErrorCode::kUnavailable);
  server_.ask({"REPLICAOF", "NO", "ONE"});
  reconnect();
  EXPECT_EQ(ask(Command("SET", "k", "v")), "OK");
}

TEST_F(ClientTest, AClusterIsRefusedAtOnceWithTheReason) {
  RedisServerProcess node({"--cluster-enabled", "yes"});
  open(node.url());
  ASSERT_FALSE(connected_);
  EXPECT_EQ(connected_.error().code, ErrorCode::kInvalid);
  EXPECT_NE(connected_.error().message.find("is a Redis Cluster"), std::string::npos);
}

// Certificates of an authority of its own.
class Authority {
 public:
  Authority() {
    std::string pattern = testing::TempDir() + "fairlead-tls-XXXXXX";
    check(mkdtemp(pattern.data()) != nullptr, "there is room for a folder");
    folder_ = pattern;
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca "
        "-keyout ca.key -out ca.pem");
    for (std::string name : {"server", "client"}) {
      run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=redis.test "
          "-addext subjectAltName=DNS:redis.test -keyout " +
          name + ".key -out " + name + ".csr");
      run("x509 -req -days 2 -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -in " +
          name + ".csr -out " + name + ".pem");
    }
  }
  ~Authority() { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void run(const std::string& words) {
    std::string line = "cd " + folder_ + " && openssl " + words + " 2>/dev/null";
    check(std::system(line.c_str()) == 0, "openssl makes certificates");
  }
  std::string folder_;
};

TEST_F(ClientTest, BothSidesShowTheirCertificatesOverTls) {
  Authority authority;
  uint16_t port = cluster::free_port();
  RedisServerProcess server({"--tls-port", std::to_string(port), "--tls-cert-file",
                             authority.file("server.pem"), "--tls-key-file",
                             authority.file("server.key"), "--tls-ca-cert-file",
                             authority.file("ca.pem")});
  std::string url = "rediss://127.0.0.1:" + std::to_string(port);
  TlsOptions tls{authority.file("ca.pem"), authority.file("client.pem"),
                 authority.file("client.key"), "redis.test"};
  open(url, tls);
  ASSERT_TRUE(connected_) << connected_.error().message;
  std::string large(1 << 20, 'x');
  EXPECT_EQ(ask(Command("SET", "k", large)), "OK");
  EXPECT_EQ(ask(Command("GET", "k")), large);

  auto refusal = [&](TlsOptions options) {
    client_ =
        std::make_unique<Client>(ClientOptions{*parse_address(url), options, {}}, loop_, log_);
    return client_->wait_until_connected(500ms);
  };
  TlsOptions other_name = tls;
  other_name.server_name = "elsewhere.test";
  EXPECT_FALSE(refusal(other_name));
  TlsOptions other_authority = tls;
  other_authority.ca_file = "";
  EXPECT_FALSE(refusal(other_authority));
  TlsOptions no_certificate = tls;
  no_certificate.certificate_file = no_certificate.key_file = "";
  EXPECT_FALSE(refusal(no_certificate));
  TlsOptions no_key = tls;
  no_key.key_file = "";
  Result<void> refused = refusal(no_key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  TlsOptions insecure = other_name;
  insecure.insecure = true;
  EXPECT_TRUE(refusal(insecure));
}

}  // namespace
}  // namespace fairlead::store::redis
