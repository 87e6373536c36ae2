// A server with TLS on every listener, and the programs that talk to it.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class Tls : public testing::Test {
 protected:
  // A certificate that is its own authority.
  void certify(const std::string& name) {
    const std::string make =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
        key_of(name) + " -out " + pem_of(name) + " 2>/dev/null";
    ASSERT_EQ(std::system(make.c_str()), 0);
  }
  std::string pem_of(const std::string& name) const { return folder_ / (name + ".pem"); }
  std::string key_of(const std::string& name) const { return folder_ / (name + ".key"); }

  void start(Words flags = {}) {
    for (const char* listener : {"api", "workers", "payloads", "metrics"}) {
      const std::string name = std::string("--") + listener + "-tls-";
      flags.insert(flags.end(), {name + "cert", pem_of("server"), name + "key", key_of("server")});
    }
    server_.emplace(folder_ / "data", flags);
    ASSERT_TRUE(server_->ready());
  }

  static std::string at(const char* scheme, uint16_t port) {
    return std::string(scheme) + "://localhost:" + std::to_string(port);
  }
  Ended cli(const std::string& authority, Words words) const {
    words.insert(words.end(), {"--server", at("https", server_->api), "--ca", authority});
    return run(words);
  }
  std::unique_ptr<edge::Child> start_worker(const Words& flags) const {
    Words words{program(),    "worker",
                "--pool",     "default",
                "--server",   at("tls", server_->workers),
                "--payloads", at("rediss", server_->payloads)};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "tr", "a-z", "A-Z"});
    return std::make_unique<edge::Child>(words, Variables{});
  }
  bool metrics_are_shown(const std::string& authority) const {
    const std::string line = "curl -sf --cacert " + authority + " " +
                             at("https", server_->metrics) + "/metrics >/dev/null";
    return std::system(line.c_str()) == 0;
  }

  Folder folder_;
  std::optional<ServerProcess> server_;
};

TEST_F(Tls, WorkerAndCommandLineSpeakItWithEveryListener) {
  certify("server");
  start();
  EXPECT_THAT(server_->ready_line, ContainsRegex("api https://.*workers tls://.*payloads rediss://"
                                                 ".*metrics https://"));
  auto worker = start_worker({"--ca", pem_of("server")});
  EXPECT_THAT(worker->line(), HasSubstr("connected"));
  Ended job = cli(pem_of("server"), {"job", "submit", "--wait", "hello"});
  EXPECT_EQ(job.status, 0) << job.output;
  EXPECT_THAT(job.output, HasSubstr("SUCCEEDED"));
  const std::string id = job.output.substr(0, job.output.find('\n'));
  EXPECT_THAT(cli(pem_of("server"), {"job", "logs", id}).output, HasSubstr("HELLO"))
      << "the payload and the result went through the payload listener";
  EXPECT_EQ(cli(pem_of("server"), {"doctor", "--strict"}).status, 0);
  EXPECT_TRUE(metrics_are_shown(pem_of("server")));
}

TEST_F(Tls, AnAuthorityThatDidNotSignIsNotBelieved) {
  certify("server");
  certify("other");
  start();
  Ended refused = cli(pem_of("other"), {"status"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, HasSubstr("no TLS with https://localhost"));
  EXPECT_THAT(refused.output, HasSubstr("certificate verify failed"));
  EXPECT_THAT(refused.output, HasSubstr("--ca FILE"));
  EXPECT_EQ(cli(pem_of("other"), {"status", "--insecure"}).status, 0);
  auto worker = start_worker({"--ca", pem_of("other")});
  EXPECT_THAT(worker->line(), HasSubstr("certificate verify failed"));
  EXPECT_FALSE(metrics_are_shown(pem_of("other")));
}

TEST_F(Tls, CordumctlFindsTheAuthorityInTheWaysOfThatTool) {
  certify("server");
  start();
  const std::string tool = folder_ / "cordumctl";
  std::filesystem::create_symlink(program(), tool);
  std::filesystem::create_directories(folder_ / "home/certs/ca");
  std::filesystem::create_directories(folder_ / "elsewhere");
  std::filesystem::copy(pem_of("server"), folder_ / "home/certs/ca/ca.crt");
  auto status = [&](const std::string& place, const std::string& flags, Variables variables) {
    variables.emplace("CORDUM_GATEWAY", at("https", server_->api));
    edge::Child shell(
        {"sh", "-c", "cd " + (folder_ / place) + " && exec " + tool + " status " + flags},
        variables);
    shell.close_input();
    const int code = shell.wait();
    return Ended{code, shell.output()};
  };
  const Ended unknown = status("elsewhere", "", {});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.output, HasSubstr("--cacert FILE"));
  EXPECT_EQ(status("elsewhere", "", {{"CORDUM_TLS_CA", pem_of("server")}}).status, 0);
  EXPECT_EQ(status("elsewhere", "-cacert " + pem_of("server"), {}).status, 0);
  EXPECT_EQ(status("elsewhere", "", {{"CORDUM_TLS_INSECURE", "true"}}).status, 0);
  EXPECT_EQ(status("elsewhere", "--insecure", {}).status, 0);
  EXPECT_EQ(status("home", "", {}).status, 0) << "./certs/ca/ca.crt, for a gateway on this machine";
}

TEST_F(Tls, WorkersMayHaveToShowACertificateOfTheirOwn) {
  certify("server");
  certify("worker");
  start(
      {"--workers-tls-client-ca", pem_of("worker"), "--payloads-tls-client-ca", pem_of("worker")});
  auto stranger = start_worker({"--ca", pem_of("server")});
  EXPECT_THAT(stranger->line(), HasSubstr("trying again"));
  auto worker = start_worker(
      {"--ca", pem_of("server"), "--cert", pem_of("worker"), "--key", key_of("worker")});
  EXPECT_THAT(worker->line(), HasSubstr("connected"));
  EXPECT_EQ(cli(pem_of("server"), {"job", "submit", "--wait", "x"}).status, 0);
}

TEST_F(Tls, NewCertificatesAreShownByEveryListenerWithoutARestart) {
  certify("server");
  start();
  std::filesystem::copy(pem_of("server"), pem_of("old"));
  auto early = start_worker({"--ca", pem_of("old"), "--id", "early"});
  EXPECT_THAT(early->line(), HasSubstr("connected"));

  certify("new");
  std::filesystem::rename(key_of("new"), key_of("server"));
  std::filesystem::rename(pem_of("new"), pem_of("server"));
  std::set<std::string> reloaded;
  while (reloaded.size() < 4) {
    const std::string line = server_->line_with("certificate reloaded");
    ASSERT_FALSE(line.empty());
    const size_t name = line.find("listener=") + 9;
    reloaded.insert(line.substr(name, line.find(' ', name) - name));
  }
  EXPECT_EQ(reloaded, (std::set<std::string>{"api", "metrics", "payloads", "workers"}));

  EXPECT_EQ(cli(pem_of("server"), {"status"}).status, 0);
  EXPECT_EQ(cli(pem_of("old"), {"status"}).status, 1);
  EXPECT_TRUE(metrics_are_shown(pem_of("server")));
  EXPECT_FALSE(metrics_are_shown(pem_of("old")));
  // The payload listener is asked first by the job that the worker is given.
  early->signal(SIGTERM);
  EXPECT_EQ(early->wait(), 0);
  auto late = start_worker({"--ca", pem_of("server"), "--id", "late"});
  EXPECT_THAT(late->line(), HasSubstr("connected"));
  EXPECT_EQ(cli(pem_of("server"), {"job", "submit", "--wait", "x"}).status, 0);
  auto outdated = start_worker({"--ca", pem_of("old")});
  EXPECT_THAT(outdated->line(), HasSubstr("certificate verify failed"));
}

TEST_F(Tls, AWrongCertificateIsToldAndTheOldOneStays) {
  certify("server");
  start();
  std::filesystem::copy(pem_of("server"), pem_of("old"));
  folder_.write("server.pem", "nonsense");
  EXPECT_THAT(server_->line_with("certificate refused"),
              ContainsRegex("ERROR certificate refused, the old one stays listener=.*server.pem"));
  EXPECT_EQ(cli(pem_of("old"), {"status"}).status, 0);
}

}  // namespace
}  // namespace fairlead::app
