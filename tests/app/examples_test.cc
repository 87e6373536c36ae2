// The workers of examples/, each against a server of its own.
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* kAnswer = "\\{.*\"you_said\": ?\"hello\".*\\}";

std::string source(const std::string& path) {
  const char* root = std::getenv("FAIRLEAD_SOURCE_DIR");
  return std::string(root ? root : ".") + "/" + path;
}

// Starts the worker with the words and lets it do one job; its result, as it is stored, must match.
void expect_one_job_done(const Words& worker, const std::string& result) {
  Folder folder;
  ServerProcess server(folder / "data");
  ASSERT_TRUE(server.ready());
  const Variables variables = {
      {"FAIRLEAD", program()},
      {"NATS_URL", "nats://127.0.0.1:" + std::to_string(server.workers)},
      {"REDIS_URL", "redis://127.0.0.1:" + std::to_string(server.payloads)},
      {"PROTO", source("proto")},
  };
  edge::Child child(worker, variables);
  const Variables api = {{"FAIRLEAD_API", "http://127.0.0.1:" + std::to_string(server.api)}};
  Ended submitted = run({"job", "submit", "--wait", "--timeout", "20s", "hello"}, api);
  EXPECT_EQ(submitted.status, 0) << submitted.output;
  EXPECT_THAT(submitted.output, HasSubstr("SUCCEEDED"));
  const std::string job = submitted.output.substr(0, submitted.output.find('\n'));
  EXPECT_THAT(run({"job", "logs", job}, api).output, MatchesRegex(result));
  child.signal(SIGKILL);
}

TEST(Examples, TheFirstWorkerOfTheReadmeShoutsThePrompt) {
  std::ifstream readme(source("README.md"));
  std::string line, worker;
  while (std::getline(readme, line)) {
    if (line.starts_with("    fairlead worker --pool default -- ")) worker = line.substr(13);
  }
  ASSERT_NE(worker, "");
  expect_one_job_done({"sh", "-c",
                       "exec \"$FAIRLEAD\" " + worker.substr(0, 7) +
                           " --server \"$NATS_URL\" --payloads \"$REDIS_URL\" " + worker.substr(7)},
                      "HELLO");
}

TEST(Examples, TheShellWorkerShouts) {
  expect_one_job_done({source("examples/shell_worker.sh")}, "HELLO");
}

TEST(Examples, TheWorkerOfAPlainNatsClientAnswers) {
  const char* python = std::getenv("FAIRLEAD_CAP_PYTHON_2_17_0");
  if (!python) GTEST_SKIP() << "needs the packages of tests/cap";
  expect_one_job_done({python, "-B", source("examples/nats_worker.py")}, kAnswer);
}

TEST(Examples, TheWorkerOfTheSdkAnswers) {
  const char* python = std::getenv("FAIRLEAD_CAP_PYTHON_2_17_0");
  if (!python) GTEST_SKIP() << "needs the packages of tests/cap";
  expect_one_job_done({python, "-B", source("examples/cap_worker.py")}, kAnswer);
}

TEST(Examples, TheNodeWorkerAnswers) {
  const char* node = std::getenv("FAIRLEAD_EDGE_NODE");
  if (!node) GTEST_SKIP() << "needs the packages of tests/edge/node";
  expect_one_job_done({"node", std::string(node) + "/node_worker.mjs"}, kAnswer);
}

}  // namespace
}  // namespace fairlead::app
