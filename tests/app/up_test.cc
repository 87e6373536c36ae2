// What a person sees of `fairlead up` that works.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

// As it would be on a machine that does nothing else: what waits for a processor is not its fault.
double slowness() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr double kSanitizer = 10;
#else
  constexpr double kSanitizer = 1;
#endif
  double load = 0;
  if (::getloadavg(&load, 1) != 1) return kSanitizer;
  const double each = load / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return kSanitizer * std::max(1.0, each);
}

TEST(Up, IsReadyAtOnceOnAnEmptyFolder) {
  std::chrono::steady_clock::duration best = std::chrono::hours(1);
  const std::chrono::duration<double, std::milli> limit(300 * slowness());
  for (int tries = 0; tries < 10 && best >= limit; ++tries) {
    Folder folder;
    const auto began = std::chrono::steady_clock::now();
    ServerProcess server(folder / "data");
    best = std::min(best, std::chrono::steady_clock::now() - began);
    EXPECT_EQ(server.stop(), 0);
  }
  EXPECT_LT(best, limit);
}

TEST(Up, ServesOnAllFourListeners) {
  Folder folder;
  ServerProcess server(folder / "data");
  ASSERT_TRUE(server.ready());
  EXPECT_THAT(server.ready_line, HasSubstr("data " + (folder / "data")));
  EXPECT_THAT(server.call("GET", "/api/v1/status"), HasSubstr("\"uptime_seconds\""));
  edge::RawClient worker(server.workers);
  EXPECT_THAT(worker.line(), StartsWith("INFO {"));
  edge::RawClient payloads(server.payloads);
  payloads.send("PING\r\n");
  EXPECT_EQ(payloads.line(), "+PONG\r\n");
  EXPECT_THAT(ServerProcess::call_on(server.metrics, "GET", "/metrics"),
              HasSubstr("cordum_scheduler_jobs{pod=\"fairlead\",state=\"PENDING\"} 0"));
}

TEST(Up, LeadsAJobToAWorker) {
  Folder folder;
  ServerProcess server(folder / "data");
  TestWorker worker(server.workers, "w1");
  const std::string job = server.submit();
  EXPECT_EQ(worker.take().job_id(), job);
}

TEST(Up, FindsItsJobsAndTopicsAgain) {
  Folder folder;
  std::string job;
  {
    ServerProcess server(folder / "data");
    EXPECT_THAT(server.call("POST", "/api/v1/topics", R"({"name":"job.mine","pool":"default"})"),
                StartsWith("HTTP/1.1 201"));
    job = server.submit("job.mine");
    ASSERT_FALSE(job.empty());
    EXPECT_EQ(server.stop(), 0);
  }
  ServerProcess server(folder / "data");
  EXPECT_EQ(server.state_of(job), "PENDING");
  EXPECT_THAT(server.call("GET", "/api/v1/topics"), HasSubstr("\"job.mine\""));
  TestWorker worker(server.workers, "w1");
  EXPECT_EQ(worker.take().job_id(), job);
}

TEST(Up, KeysAreAskedForAndRatesAreKept) {
  Folder folder;
  ServerProcess server(folder / "data",
                       {"--api-key", "k1", "--rate-limit", "0.001", "--rate-burst", "1"});
  EXPECT_THAT(server.call("GET", "/api/v1/status"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(server.call("GET", "/api/v1/status", "", "X-API-Key: k1\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(server.call("GET", "/api/v1/status", "", "X-API-Key: k1\r\n"),
              StartsWith("HTTP/1.1 429"));
}

TEST(Up, OriginsAreAllowedAsSet) {
  Folder folder;
  ServerProcess server(folder / "data",
                       {"--api-key", "k1", "--allowed-origins", "https://app.example.com"});
  auto from = [&](const std::string& origin) {
    return server.call("GET", "/api/v1/status", "", "X-API-Key: k1\r\nOrigin: " + origin + "\r\n");
  };
  EXPECT_THAT(from("https://app.example.com"),
              HasSubstr("Access-Control-Allow-Origin: https://app.example.com"));
  EXPECT_THAT(from("https://other.example.com"), StartsWith("HTTP/1.1 403"));
}

TEST(Up, WorkersShowTheirTokenToBothListeners) {
  Folder folder;
  ServerProcess server(folder / "data", {}, {{"FAIRLEAD_WORKER_TOKEN", "t1"}});
  edge::RawClient stranger(server.workers);
  stranger.line();
  stranger.send("CONNECT {}\r\nPING\r\n");
  EXPECT_THAT(stranger.line(), StartsWith("-ERR 'Authorization"));
  edge::RawClient friendly(server.workers);
  friendly.line();
  friendly.send("CONNECT {\"verbose\":false,\"auth_token\":\"t1\"}\r\nPING\r\n");
  EXPECT_EQ(friendly.line(), "PONG\r\n");
  edge::RawClient payloads(server.payloads);
  payloads.send("GET ctx:1\r\n");
  EXPECT_THAT(payloads.line(), StartsWith("-NOAUTH"));
  payloads.send("AUTH t1\r\n");
  EXPECT_EQ(payloads.line(), "+OK\r\n");
}

TEST(Up, SpeaksTlsWhereItHasACertificate) {
  Folder folder;
  const std::string pem = folder / "c.pem", key = folder / "k.pem";
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost "
      "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
      key + " -out " + pem + " 2>/dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  Words flags;
  for (const char* listener : {"api", "workers", "payloads", "metrics"}) {
    const std::string name = std::string("--") + listener + "-tls-";
    flags.insert(flags.end(), {name + "cert", pem, name + "key", key});
  }
  ServerProcess server(folder / "data", flags);
  ASSERT_TRUE(server.ready());
  EXPECT_THAT(server.ready_line, HasSubstr("api https://"));
  EXPECT_THAT(server.ready_line, HasSubstr("workers tls://"));
  EXPECT_THAT(server.ready_line, HasSubstr("payloads rediss://"));
  auto curl = [&](uint16_t port, const std::string& path) {
    const std::string line = "curl -sf --cacert " + pem +
                             " https://localhost:" + std::to_string(port) + path + " >/dev/null";
    return std::system(line.c_str());
  };
  EXPECT_EQ(curl(server.api, "/api/v1/status"), 0);
  EXPECT_EQ(curl(server.metrics, "/metrics"), 0);
  edge::RawClient worker(server.workers);
  EXPECT_THAT(worker.line(), HasSubstr("\"tls_required\":true"));
  const std::string ping =
      "printf 'PING\\r\\nQUIT\\r\\n' | timeout 10 openssl s_client -quiet -CAfile " + pem +
      " -verify_return_error -connect localhost:" + std::to_string(server.payloads) +
      " 2>/dev/null | grep -q +PONG";
  EXPECT_EQ(std::system(ping.c_str()), 0);
}

TEST(Up, TheDemoRunsItsJobs) {
  Folder folder;
  ServerProcess server(folder / "data", {"--demo"});
  for (const char* prompt : {"hello", "fair winds", "and following seas"}) {
    EXPECT_THAT(server.line_with("demo: "),
                ContainsRegex(std::string("demo: job [0-9a-f-]+ \"") + prompt + "\" SUCCEEDED"));
  }
  EXPECT_EQ(server.line_with("demo: "), "") << "an empty line parts the jobs from the advice";
  EXPECT_THAT(server.line_with("export"),
              HasSubstr("export FAIRLEAD_API=http://127.0.0.1:" + std::to_string(server.api)));
  const std::string job = server.submit();
  EXPECT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  EXPECT_THAT(server.call("GET", "/api/v1/jobs/" + job), ContainsRegex("\"result\":.*\"hi\""));
  EXPECT_EQ(server.stop(), 0);
}

TEST(Up, TheEchoWorkerLeavesJobsToAWorkerOfOnesOwn) {
  Folder folder;
  ServerProcess server(folder / "data", {"--demo"});
  server.line_with("seas");
  TestWorker worker(server.workers, "mine");
  for (int i = 0; i < 3; ++i) {
    const std::string job = server.submit();
    EXPECT_EQ(worker.take().job_id(), job);
  }
}

TEST(Up, LogsInJsonWhenAsked) {
  Folder folder;
  ServerProcess server(folder / "data", {"--log-format", "json"});
  server.child().signal(SIGTERM);
  EXPECT_THAT(
      server.line_with("draining"),
      ContainsRegex("^\\{\"time\":\"[^\"]+Z\",\"level\":\"info\",\"message\":\"draining\"\\}$"));
}

TEST(Up, LogsThePhrasesThatRunbooksLookFor) {
  Folder folder;
  ServerProcess server(folder / "data");
  edge::RawClient client(server.workers);
  client.line();
  cordum::agent::v1::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("s");
  packet.set_protocol_version(1);
  packet.mutable_job_request()->set_job_id("j1");
  packet.mutable_job_request()->set_topic("job.unmapped");
  packet.mutable_job_request()->set_tenant_id("default");
  const std::string bytes = packet.SerializeAsString();
  client.send("CONNECT {}\r\nPUB sys.job.submit " + std::to_string(bytes.size()) + "\r\n" + bytes +
              "\r\n");
  EXPECT_THAT(server.line_with("job_id=j1"),
              ContainsRegex("WARNING .*no pool mapping for topic.* job_id=j1"));
}

TEST(Settings, AreShownWithWhereTheyCameFrom) {
  Folder folder;
  const std::string file = folder.write("f.yaml", "instance: filed\n");
  Ended table = run({"settings", "--config", file, "--data", "d"}, {{"FAIRLEAD_RATE_LIMIT", "9"}});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.output, ContainsRegex("data +d +flag \\(--data\\)"));
  EXPECT_THAT(table.output, ContainsRegex("rate-limit +9 +environment \\(FAIRLEAD_RATE_LIMIT\\)"));
  EXPECT_THAT(table.output, ContainsRegex("instance +filed +file \\(.*f.yaml line 1: instance\\)"));
  Ended json = run({"settings", "--json", "--demo"});
  EXPECT_THAT(json.output, HasSubstr(R"("demo":{"value":"true","source":"flag","from":"--demo"})"));
}

TEST(Help, IsThere) {
  EXPECT_THAT(run({"help"}).output, HasSubstr("Start a server"));
  EXPECT_THAT(run({"version"}).output, ContainsRegex("^fairlead [0-9]+\\.[0-9]+\\.[0-9]+ "));
  EXPECT_THAT(run({"version", "-o", "json"}).output, HasSubstr("\"version\""));
  Ended up = run({"up", "--help"});
  EXPECT_EQ(up.status, 0);
  EXPECT_THAT(up.output, HasSubstr("--listen-workers HOST:PORT"));
}

}  // namespace
}  // namespace fairlead::app
