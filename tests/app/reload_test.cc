// Files that are edited while the server runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPools = "topics: {job.default: default}\npools: {default: {}}\n";

TEST(Reload, AnEditedPoolsFileIsInForceWithoutARestart) {
  Folder folder;
  const std::string file = folder.write("pools.yaml", kPools);
  ServerProcess server(folder / "data", {"--pools", file});
  EXPECT_THAT(server.call("POST", "/api/v1/topics", R"({"name":"job.called","pool":"default"})"),
              StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(server.call("POST", "/api/v1/jobs", R"({"prompt":"x","topic":"job.new"})"),
              StartsWith("HTTP/1.1 400"));
  folder.write("pools.yaml",
               "topics: {job.default: default, job.new: other}\npools: {default: {}, other: {}}\n");
  EXPECT_THAT(server.line_with("pools file"), HasSubstr("INFO pools file reloaded file=" + file));
  TestWorker worker(server.workers, "w1", "other");
  const std::string job = server.submit("job.new");
  EXPECT_EQ(worker.take().job_id(), job);
  EXPECT_THAT(server.call("GET", "/api/v1/topics"), HasSubstr("\"job.called\""))
      << "what calls made stays";
}

TEST(Reload, AWrongPoolsFileIsToldAndTheOldOneStays) {
  Folder folder;
  const std::string file = folder.write("pools.yaml", kPools);
  ServerProcess server(folder / "data", {"--pools", file});
  folder.write("pools.yaml", "topics: {job.default: nowhere}\npools: {}\n");
  std::string line = server.line_with("pools file");
  EXPECT_THAT(line, HasSubstr("ERROR pools file refused, the pools stay as they were"));
  EXPECT_THAT(line, HasSubstr("nowhere"));
  EXPECT_FALSE(server.submit().empty());
  folder.write("pools.yaml", kPools);
  EXPECT_THAT(server.line_with("pools file"), HasSubstr("pools file reloaded"));
}

TEST(Reload, EditedKeysAreInForceWithoutARestart) {
  Folder folder;
  const std::string file = folder.write("keys", "default:old:admin");
  ServerProcess server(folder / "data", {"--api-keys-file", file});
  auto status_with = [&](const std::string& key) {
    return server.call("GET", "/api/v1/status", "", "X-API-Key: " + key + "\r\n");
  };
  EXPECT_THAT(status_with("old"), StartsWith("HTTP/1.1 200"));
  folder.write("keys", "default:new:admin");
  EXPECT_THAT(server.line_with("API keys"), HasSubstr("INFO API keys reloaded"));
  EXPECT_TRUE(ServerProcess::await([&] { return status_with("new").starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(status_with("old"), StartsWith("HTTP/1.1 401"));
  folder.write("keys", "");
  EXPECT_THAT(server.line_with("API keys"), HasSubstr("ERROR API keys file refused"));
  EXPECT_THAT(status_with("new"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace fairlead::app
