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
using testing::Not;
using testing::StartsWith;

// What was promised; programs with sanitizers are several times slower than what people run.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr auto kReadyWithin = std::chrono::milliseconds(3000);
#else
constexpr auto kReadyWithin = std::chrono::milliseconds(300);
#endif

TEST(Up, IsReadyAtOnceOnAnEmptyFolder) {
  // Others use the machine too: the best of many is what the program needs.
  auto best = std::chrono::steady_clock::duration::max();
  for (int tries = 0; tries < 30 && best >= kReadyWithin; ++tries) {
    Folder folder;
    const auto began = std::chrono::steady_clock::now();
    ServerProcess server(folder / "data");
    best = std::min(best, std::chrono::steady_clock::now() - began);
    EXPECT_EQ(server.stop(), 0);
  }
  EXPECT_LT(best, kReadyWithin);
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
              ContainsRegex("cordum_scheduler_jobs\\{pod=\"[^\"]+\",state=\"PENDING\"\\} 0"));
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

TEST(Up, RatesThatAreSetAreKeptWithoutKeysToo) {
  Folder folder;
  ServerProcess server(folder / "data",
                       {"--rate-limit", "0.001", "--rate-burst", "2", "--public-rate-limit",
                        "0.001", "--public-rate-burst", "1"});
  for (const char* expected : {"HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 429"}) {
    EXPECT_THAT(server.call("GET", "/api/v1/status"), StartsWith(expected));
  }
  for (const char* expected : {"HTTP/1.1 200", "HTTP/1.1 429"}) {
    EXPECT_THAT(server.call("GET", "/healthz"), StartsWith(expected));
  }
}

TEST(Up, BodiesAreLimitedAsSet) {
  Folder folder;
  ServerProcess server(folder / "data", {"--max-body", "1024"},
                       {{"GATEWAY_MAX_JOB_PAYLOAD_BYTES", "2048"}});
  const std::string prompt(1500, 'p');
  const std::string job = R"({"prompt":")" + prompt + "\"}";
  EXPECT_THAT(server.call("POST", "/api/v1/jobs", job), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(server.call("POST", "/api/v1/topics", job), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(server.call("POST", "/api/v1/jobs", job + std::string(1000, ' ')),
              StartsWith("HTTP/1.1 413"));
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
  EXPECT_THAT(server.line_with("export"),
              HasSubstr("export NATS_URL=nats://127.0.0.1:" + std::to_string(server.workers)));
  EXPECT_THAT(server.line_with("export"),
              HasSubstr("export REDIS_URL=redis://127.0.0.1:" + std::to_string(server.payloads)));
  const std::string job = server.submit();
  EXPECT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  EXPECT_THAT(server.call("GET", "/api/v1/jobs/" + job), ContainsRegex("\"result\":.*\"hi\""));
  EXPECT_EQ(server.stop(), 0);
}

TEST(Up, TheDemoTellsAWorkerThatNeedsAPasswordWhereToPutIt) {
  Folder folder;
  ServerProcess server(folder / "data",
                       {"--demo", "--worker-user", "ann", "--worker-password", "secret"});
  server.line_with("seas");
  server.line_with("Try next");
  // As a person would: what it says, with the password in the place of the dots.
  Variables exported;
  for (const std::string name : {"FAIRLEAD_API", "NATS_URL", "REDIS_URL"}) {
    const std::string mark = "export " + name + "=", dots = "…";
    std::string line = server.line_with("export");
    ASSERT_THAT(line, HasSubstr(mark));
    line.erase(0, line.find(mark) + mark.size());
    if (const size_t at = line.find(dots); at != line.npos) line.replace(at, dots.size(), "secret");
    exported[name] = line;
  }
  edge::Child worker({program(), "worker", "--pool", "default", "--id", "mine", "--", "cat"},
                     exported);
  EXPECT_TRUE(ServerProcess::await([&] {
    return server.call("GET", "/api/v1/workers/mine").starts_with("HTTP/1.1 200");
  })) << server.child().output();
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

TEST(Up, TheEchoWorkerTakesOverAsSoonAsOnesOwnHasGone) {
  Folder folder;
  ServerProcess server(folder / "data", {"--demo"});
  server.line_with("seas");
  {
    TestWorker worker(server.workers, "mine");
    server.submit();
    worker.succeed(worker.take());
    EXPECT_THAT(server.call("GET", "/api/v1/workers"), HasSubstr("\"mine\""));
  }
  const std::string job = server.submit();
  EXPECT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  EXPECT_THAT(server.call("GET", "/api/v1/jobs/" + job), HasSubstr("\"demo-echo\""));
  EXPECT_THAT(server.call("GET", "/api/v1/workers"), Not(HasSubstr("\"mine\"")));
}

TEST(Up, TheEchoWorkerLeavesOnlyWhatOthersTake) {
  Folder folder;
  ServerProcess server(folder / "data", {"--demo"});
  server.line_with("seas");
  EXPECT_THAT(server.call("POST", "/api/v1/topics", R"({"name":"job.mine","pool":"default"})"),
              StartsWith("HTTP/1.1 201"));
  edge::Child worker(
      {program(), "worker", "--pool", "default", "--topic", "job.mine", "--id", "mine", "--server",
       "nats://127.0.0.1:" + std::to_string(server.workers), "--payloads",
       "redis://127.0.0.1:" + std::to_string(server.payloads), "--", "cat"},
      {});
  ServerProcess::await([&] {
    return server.call("GET", "/api/v1/workers/mine").find("job.mine") != std::string::npos;
  });
  const std::string other = server.submit();
  EXPECT_EQ(server.await_state(other, "SUCCEEDED"), "SUCCEEDED");
  EXPECT_THAT(server.call("GET", "/api/v1/jobs/" + other), HasSubstr("\"demo-echo\""));
}

TEST(Up, LogsInJsonWhenAsked) {
  Folder folder;
  ServerProcess server(folder / "data", {"--log-format", "json"});
  server.child().signal(SIGTERM);
  EXPECT_THAT(
      server.line_with("draining"),
      ContainsRegex("^\\{\"time\":\"[^\"]+Z\",\"level\":\"info\",\"message\":\"draining\"\\}$"));
}

TEST(Settings, AreShownWithWhereTheyCameFrom) {
  Folder folder;
  const std::string file = folder.write("f.yaml", "instance: filed\n");
  Ended table = run({"settings", "--config", file, "--data", "d"}, {{"FAIRLEAD_RATE_LIMIT", "9"}});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.output, ContainsRegex("data +d +flag \\(--data\\)"));
  EXPECT_THAT(table.output, ContainsRegex("rate-limit +9 +environment \\(FAIRLEAD_RATE_LIMIT\\)"));
  EXPECT_THAT(table.output, ContainsRegex("instance +filed +file \\(.*f.yaml line 1: instance\\)"));
  Ended effective = run({"settings"});
  EXPECT_THAT(effective.output, ContainsRegex("instance +[A-Za-z0-9_-]+ +default"))
      << "the name that is used, not how it is found";
  for (const Words& format :
       {Words{"--json"}, Words{"-o", "json"}, Words{"--output=json"}, Words{"-o=json"}}) {
    Words words{"settings", "--demo"};
    words.insert(words.end(), format.begin(), format.end());
    EXPECT_THAT(run(words).output,
                HasSubstr(R"("demo":{"value":"true","source":"flag","from":"--demo"})"));
  }
  const std::string times =
      folder.write("times.yaml", "reconciler: {running_timeout_seconds: 3456}\n");
  EXPECT_THAT(run({"settings", "--timeouts", times}).output,
              ContainsRegex("running-timeout +3456 +file \\(.*times.yaml\\)"));
  EXPECT_EQ(run({"settings", "-o", "table"}).status, 0);
  EXPECT_EQ(run({"settings", "-o", "xml"}).status, 2);
}

TEST(Help, IsThere) {
  EXPECT_THAT(run({"help"}).output, HasSubstr("Start a server"));
  const std::string version = run({"version"}).output;
  EXPECT_THAT(version,
              ContainsRegex("^fairlead [0-9]+\\.[0-9]+\\.[0-9]+ \\([0-9a-z]+, [0-9a-z-]+\\)\n$"));
  EXPECT_EQ(run({"--version"}).output, version);
  EXPECT_THAT(run({"version", "-o", "json"}).output,
              ContainsRegex("\"version\": \"[0-9.]+\",\n  \"commit\": \"[0-9a-z]+\""));
  Ended up = run({"up", "--help"});
  EXPECT_EQ(up.status, 0);
  EXPECT_THAT(up.output, HasSubstr("--listen-workers HOST:PORT"));
}

}  // namespace
}  // namespace fairlead::app
