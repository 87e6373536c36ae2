// Clients that others wrote, against the embedded core: each case is a program of its own that ends
// well or says what went wrong.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>

#include <gtest/gtest.h>

#include "tests/edge/child.h"

namespace fairlead::edge {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// kFreezes: it stops to answer while its client is connected.
enum class Server { kOpen, kToken, kUser, kTls, kPings, kRestarts, kFreezes };

struct Case {
  std::string client;  // of kClients
  std::string name;
  Server server = Server::kOpen;
};

std::ostream& operator<<(std::ostream& out, const Case& given) {
  return out << given.client << " " << given.name;
}

fs::path source(const std::string& path) {
  const char* root = std::getenv("FAIRLEAD_SOURCE_DIR");
  return fs::path(root ? root : ".") / path;
}

// A program that was built beside this one.
fs::path beside(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path() / name;
}

// The command that runs a client, or nothing when `./dev test` could not prepare it.
std::optional<Words> command_of(const std::string& client) {
  auto variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return value;
  };
  if (client == "c") return Words{beside("nats_c_client").string()};
  if (client == "rediscli") {
    return Words{"bash", source("tests/edge/redis_cli.sh").string()};
  }
  if (client == "python" || client == "redispy") {
    auto python = variable("FAIRLEAD_CAP_PYTHON_2_17_0");
    if (!python) return std::nullopt;
    const char* script = client == "python" ? "nats_client.py" : "redis_client.py";
    return Words{*python, "-B", source(std::string("tests/edge/python/") + script).string()};
  }
  if (client == "cap_2_13_3" || client == "cap_2_17_0") {
    auto python = variable(client == "cap_2_13_3" ? "FAIRLEAD_CAP_PYTHON_2_13_3"
                                                  : "FAIRLEAD_CAP_PYTHON_2_17_0");
    if (!python) return std::nullopt;
    return Words{*python, "-B", source("tests/edge/python/cap_worker.py").string()};
  }
  if (client == "go") {
    auto built = variable("FAIRLEAD_EDGE_GO_CLIENT");
    if (!built) return std::nullopt;
    return Words{*built};
  }
  auto folder = variable("FAIRLEAD_EDGE_NODE");
  if (!folder) return std::nullopt;
  return Words{"node", *folder + "/client.mjs"};
}

class Clients : public testing::TestWithParam<Case> {
 protected:
  // An authority that has signed itself, for localhost.
  static Words certificate() {
    const fs::path folder = fs::path(testing::TempDir()) / "fairlead-edge-tls";
    fs::create_directories(folder);
    const std::string pem = folder / "certificate.pem", key = folder / "key.pem";
    const std::string line =
        "test -s " + pem + " || openssl req -x509 -newkey rsa:2048 -nodes -days 30 " +
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " + key +
        " -out " + pem + " 2>/dev/null";
    EXPECT_EQ(std::system(line.c_str()), 0);
    return {pem, key};
  }

  void start(Server kind, const std::string& port = "0") {
    Words words{beside("edge_server").string(), "--nats-port", port};
    auto add = [&](Words more) { words.insert(words.end(), more.begin(), more.end()); };
    switch (kind) {
      case Server::kToken:
        add({"--token", "s3cret"});
        break;
      case Server::kUser:
        add({"--user", "ann", "--password", "p w"});
        break;
      case Server::kPings:
        add({"--ping-ms", "50"});
        break;
      case Server::kTls: {
        Words files = certificate();
        add({"--certificate", files[0], "--key", files[1]});
        variables["EDGE_CA"] = files[0];
        break;
      }
      case Server::kOpen:
      case Server::kRestarts:
      case Server::kFreezes:
        break;
    }
    server.emplace(words, std::map<std::string, std::string>{});
    while (true) {
      const std::string line = server->line();
      if (line.starts_with("nats ")) variables["EDGE_NATS_PORT"] = line.substr(5);
      if (line.starts_with("resp ")) variables["EDGE_RESP_PORT"] = line.substr(5);
      if (line == "ready") return;
      ASSERT_FALSE(line.empty()) << "the server did not start: " << server->output();
    }
  }
  void stop() {
    server->close_input();
    EXPECT_EQ(server->wait(), 0) << server->output();
    server.reset();
  }

  std::optional<Child> server;
  std::map<std::string, std::string> variables;
};

TEST_P(Clients, Work) {
  std::optional<Words> words = command_of(GetParam().client);
  if (!words) GTEST_SKIP() << "run by ./dev test, which prepares this client";
  ASSERT_NO_FATAL_FAILURE(start(GetParam().server));
  words->push_back(GetParam().name);
  Child client(*words, variables);
  if (GetParam().server == Server::kRestarts) {
    ASSERT_EQ(client.line(), "restart") << client.output();
    stop();
    ASSERT_NO_FATAL_FAILURE(start(Server::kOpen, variables["EDGE_NATS_PORT"]));
  }
  if (GetParam().server == Server::kFreezes) {
    ASSERT_EQ(client.line(), "freeze") << client.output();
    server->signal(SIGSTOP);
    EXPECT_EQ(client.line(), "noticed") << client.output();
    server->signal(SIGCONT);
  }
  EXPECT_EQ(client.wait(), 0) << client.output();
  stop();
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.client + "_" + info.param.name;
}

std::vector<Case> both_protocols(const std::string& client) {
  return {{client, "publish_subscribe"},
          {client, "request_reply"},
          {client, "durable_publish"},
          {client, "drain"},
          {client, "payloads"},
          {client, "token", Server::kToken},
          {client, "tls", Server::kTls},
          {client, "user_password", Server::kUser},
          {client, "reconnect", Server::kRestarts},
          {client, "pings", Server::kPings},
          {client, "ping_timeout", Server::kFreezes}};
}

INSTANTIATE_TEST_SUITE_P(
    Python, Clients,
    testing::Values(Case{"python", "publish_subscribe"}, Case{"python", "large_message"},
                    Case{"python", "wildcards"}, Case{"python", "queue_group"},
                    Case{"python", "request_reply"}, Case{"python", "no_responders"},
                    Case{"python", "headers"}, Case{"python", "unsubscribe_after"},
                    Case{"python", "no_echo"}, Case{"python", "drain"},
                    Case{"python", "durable_publish"}, Case{"python", "token", Server::kToken},
                    Case{"python", "user_password", Server::kUser},
                    Case{"python", "tls", Server::kTls},
                    Case{"python", "reconnect", Server::kRestarts},
                    Case{"python", "server_pings", Server::kPings}, Case{"python", "client_pings"},
                    Case{"python", "ping_timeout", Server::kFreezes}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    C, Clients,
    testing::Values(Case{"c", "publish_subscribe"}, Case{"c", "queue_group"},
                    Case{"c", "request_reply"}, Case{"c", "headers"}, Case{"c", "durable_publish"},
                    Case{"c", "drain"}, Case{"c", "token", Server::kToken},
                    Case{"c", "user_password", Server::kUser}, Case{"c", "tls", Server::kTls},
                    Case{"c", "reconnect", Server::kRestarts}, Case{"c", "pings", Server::kPings},
                    Case{"c", "ping_timeout", Server::kFreezes}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Redis, Clients,
    testing::Values(Case{"redispy", "version_two"}, Case{"redispy", "version_three"},
                    Case{"redispy", "pipeline"}, Case{"redispy", "largest"},
                    Case{"redispy", "refusals"}, Case{"redispy", "token", Server::kToken},
                    Case{"redispy", "user_password", Server::kUser},
                    Case{"redispy", "tls", Server::kTls}, Case{"rediscli", "commands"},
                    Case{"rediscli", "token", Server::kToken},
                    Case{"rediscli", "user_password", Server::kUser},
                    Case{"rediscli", "tls", Server::kTls}),
    name_of);

INSTANTIATE_TEST_SUITE_P(Go, Clients, testing::ValuesIn(both_protocols("go")), name_of);
INSTANTIATE_TEST_SUITE_P(JavaScript, Clients, testing::ValuesIn(both_protocols("node")), name_of);
INSTANTIATE_TEST_SUITE_P(JavaScriptVersionThree, Clients,
                         testing::Values(Case{"node", "payloads_of_version_three"}), name_of);

// A worker of the published SDK runs jobs through the core.
INSTANTIATE_TEST_SUITE_P(Cap, Clients,
                         testing::Values(Case{"cap_2_13_3", "jobs"}, Case{"cap_2_17_0", "jobs"}),
                         name_of);

}  // namespace
}  // namespace fairlead::edge
