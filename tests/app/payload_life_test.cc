// How long payloads live on an embedded server: as long as the jobs that lead to them.
#include <chrono>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using namespace std::chrono_literals;

// As the server tells it.
std::chrono::seconds time_left(edge::RawClient& payloads, const std::string& key) {
  payloads.send("TTL " + key + "\r\n");
  return std::chrono::seconds(std::stol(payloads.line().substr(1)));
}

TEST(Up, PayloadsWithoutATimeOfTheirOwnLiveAsLongAsEndedJobsAreKept) {
  Folder folder;
  ServerProcess server(folder / "data", {"--demo", "--keep-jobs", "720h"});
  const std::string job = server.submit();
  ASSERT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  edge::RawClient payloads(server.payloads);
  payloads.send("SET res:mine x\r\n");
  EXPECT_EQ(payloads.line(), "+OK\r\n");
  for (const std::string& key : {"ctx:" + job, "res:" + job, std::string("res:mine")}) {
    EXPECT_LE(time_left(payloads, key), 720h) << key;
    EXPECT_GT(time_left(payloads, key), 719h) << key;
  }
}

}  // namespace
}  // namespace fairlead::app
