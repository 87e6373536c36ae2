// How `fairlead up` ends.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;

TEST(Drain, AJobThatIsWithAWorkerSurvivesIt) {
  Folder folder;
  cordum::agent::v1::JobRequest given;
  {
    ServerProcess server(folder / "data");
    TestWorker worker(server.workers, "w1");
    const std::string job = server.submit();
    given = worker.take();
    ASSERT_EQ(given.job_id(), job);
    EXPECT_EQ(server.await_state(job, "RUNNING"), "RUNNING");
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(server.stop(), 0);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
    EXPECT_THAT(server.child().output(), HasSubstr("stopped"));
  }
  ServerProcess server(folder / "data");
  EXPECT_EQ(server.state_of(given.job_id()), "RUNNING");
  TestWorker worker(server.workers, "w1");
  EXPECT_THAT(worker.succeed(given), HasSubstr("\"stream\""));
  EXPECT_EQ(server.state_of(given.job_id()), "SUCCEEDED");
}

TEST(Drain, EveryJobThatWasAcceptedUnderLoadIsThereAfterwards) {
  Folder folder;
  std::vector<std::string> accepted;
  {
    ServerProcess server(folder / "data");
    // One connection that goes on submitting until it is told to leave.
    edge::RawClient client(server.api);
    const std::string body = R"({"prompt":"hi"})";
    const std::string request =
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    while (client.send(request)) {
      std::string head = client.until("\r\n\r\n");
      const size_t at = head.find("Content-Length: ");
      if (at == head.npos) break;
      std::string answer = client.until("}");
      if (head.find(" 200 ") == head.npos) {
        EXPECT_THAT(head, HasSubstr(" 503 "));
        EXPECT_THAT(head, HasSubstr("Connection: close"));
        break;
      }
      while (std::ranges::count(answer, '{') > std::ranges::count(answer, '}')) {
        answer += client.until("}");
      }
      accepted.push_back(ServerProcess::field(answer, "job_id"));
      if (accepted.size() == 50) server.child().signal(SIGTERM);
    }
    EXPECT_EQ(server.child().wait(), 0);
  }
  ASSERT_GE(accepted.size(), 50u);
  ServerProcess server(folder / "data");
  for (const std::string& job : accepted) EXPECT_EQ(server.state_of(job), "PENDING") << job;
}

TEST(Drain, ASecondSignalEndsItAtOnce) {
  Folder folder;
  ServerProcess server(folder / "data");
  // Both wait for it when it goes on.
  server.child().signal(SIGSTOP);
  server.child().signal(SIGINT);
  server.child().signal(SIGTERM);
  server.child().signal(SIGCONT);
  const int status = server.child().wait();
  EXPECT_TRUE(status == 128 + SIGTERM || status == 128 + SIGINT) << status;
  EXPECT_THAT(server.child().output(), HasSubstr("stopped by a second signal"));
  ServerProcess again(folder / "data");
  EXPECT_TRUE(again.ready());
}

TEST(Drain, InterruptIsAsGoodAsTerminate) {
  Folder folder;
  ServerProcess server(folder / "data");
  server.child().signal(SIGINT);
  EXPECT_EQ(server.child().wait(), 0);
}

TEST(Drain, ClientsThatDoNotLeaveDoNotHoldItUp) {
  Folder folder;
  ServerProcess server(folder / "data");
  edge::RawClient idle(server.api), worker(server.workers), payloads(server.payloads);
  worker.line();
  idle.send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  EXPECT_THAT(idle.until("\r\n\r\n"), HasSubstr(" 200 "));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(server.stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST(Drain, MetricsAndProbesAreToldUntilItIsOver) {
  Folder folder;
  ServerProcess server(folder / "data");
  TestWorker worker(server.workers, "w1", "default", TestWorker::Ears::kDeaf);
  for (const char* job : {"a", "b", "c", "d"}) worker.submit(job, "job.nowhere");
  ASSERT_EQ(server.await_state("d", "FAILED"), "FAILED");
  // A call that takes its time.
  const std::string body = R"({"filter":{},"stagger_ms":1000,"max":20})";
  edge::RawClient slow(server.api);
  slow.send("POST /api/v1/dlq/delete HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
  auto gone = [&](const char* job) {
    return server.call("GET", std::string("/api/v1/dlq/") + job).starts_with("HTTP/1.1 404");
  };
  ASSERT_TRUE(ServerProcess::await([&] { return gone("d"); }));
  EXPECT_THAT(ServerProcess::call_on(server.metrics, "GET", "/readyz"), HasSubstr(" 200 "));
  server.child().signal(SIGTERM);
  ASSERT_TRUE(ServerProcess::await([&] {
    return ServerProcess::call_on(server.metrics, "GET", "/readyz").starts_with("HTTP/1.1 503");
  })) << "it is no longer ready";
  EXPECT_THAT(ServerProcess::call_on(server.metrics, "GET", "/metrics"),
              HasSubstr("cordum_scheduler_active_goroutines"));
  EXPECT_THAT(ServerProcess::call_on(server.metrics, "GET", "/livez"), HasSubstr(" 200 "));
  EXPECT_EQ(server.child().wait(), 0);
}

}  // namespace
}  // namespace fairlead::app
