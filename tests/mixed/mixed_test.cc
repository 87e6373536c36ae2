// Fairlead in the place of the Go schedulers: on streams and keys that Go services made, told by
// their variables alone, with workers of the CAP SDK that others wrote.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/cap/python_sdk.h"
#include "tests/cluster/nats_server_process.h"
#include "tests/cluster/redis_server_process.h"
#include "tests/edge/child.h"
#include "tests/load/server_process.h"

namespace fairlead::cluster {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr const char* kPools = R"(topics:
  job.old: old
  job.new: new
  job.raw: raw
  job.nobody: nobody
pools:
  old: {}
  new: {}
  raw: {}
  nobody: {}
)";
constexpr const char* kTimeouts = R"(reconciler:
  dispatch_timeout_seconds: 300
  running_timeout_seconds: 900
  scan_interval_seconds: 30
topics:
  job.old: {max_retries: 2}
workflows:
  wf-1: {child_timeout_seconds: 60, total_timeout_seconds: 600, max_retries: 1}
)";

std::string script(const std::string& name) {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  return (std::filesystem::path(source ? source : ".") / "tests/mixed" / name).string();
}

// Waits for a line that begins so; false when there is none.
bool says(edge::Child& child, std::string_view start) {
  std::string line;
  do {
    line = child.line();
  } while (!line.empty() && !line.starts_with(start));
  return !line.empty();
}

class MixedTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    for (const auto& version : cap::kSdkVersions) {
      if (!cap::sdk_python(version)) GTEST_SKIP() << "no CAP SDK " << version.name;
    }
    std::ofstream(redis_.folder() / "pools.yaml") << kPools;
    std::ofstream(redis_.folder() / "timeouts.yaml") << kTimeouts;
  }

  Variables servers() const { return {{"NATS_URL", nats_.url()}, {"REDIS_URL", redis_.url()}}; }

  // By the variables of the Go scheduler, and nothing else.
  std::unique_ptr<edge::Child> scheduler(const std::string& name) const {
    Variables variables = servers();
    variables.merge(Variables{{"NATS_USE_JETSTREAM", GetParam() ? "true" : "false"},
                              {"POOL_CONFIG_PATH", (redis_.folder() / "pools.yaml").string()},
                              {"TIMEOUT_CONFIG_PATH", (redis_.folder() / "timeouts.yaml").string()},
                              {"SCHEDULER_METRICS_ADDR", "127.0.0.1:0"},
                              {"CORDUM_LOG_LEVEL", "error"},
                              {"CORDUM_INSTANCE_ID", name}});
    return std::make_unique<edge::Child>(
        std::vector<std::string>{load::fairlead_program(), "serve"}, variables);
  }

  std::unique_ptr<edge::Child> python(const cap::SdkVersion& version,
                                      std::vector<std::string> words) const {
    words.insert(words.begin(), {*cap::sdk_python(version), "-B"});
    return std::make_unique<edge::Child>(words, servers());
  }

  NatsServerProcess nats_{{.jetstream = GetParam()}};
  RedisServerProcess redis_{{"--appendfsync", "always"}};
};

INSTANTIATE_TEST_SUITE_P(Bus, MixedTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "JetStream" : "CoreNats"; });

TEST_P(MixedTest, GoServicesFindEveryJobAndKeyAsTheyWouldHaveLeftIt) {
  const auto& [older, newest] = cap::kSdkVersions;
  std::vector<std::string> words = {script("mixed_set.py")};
  if (GetParam()) words.emplace_back("--jetstream");
  auto set = python(older, words);
  ASSERT_TRUE(says(*set, "made")) << set->output();
  auto one = scheduler("one");
  auto two = scheduler("two");
  ASSERT_TRUE(says(*one, "fairlead is ready")) << one->output();
  ASSERT_TRUE(says(*two, "fairlead is ready")) << two->output();
  auto old_worker = python(older, {script("cap_worker.py"), "cap-old", "old", "job.old"});
  auto new_worker = python(newest, {script("cap_worker.py"), "cap-new", "new", "job.new"});
  ASSERT_TRUE(says(*old_worker, "ready")) << old_worker->output();
  ASSERT_TRUE(says(*new_worker, "ready")) << new_worker->output();
  set->say("go\n");
  EXPECT_EQ(set->wait(), 0) << set->output() << one->output() << two->output();
}

}  // namespace
}  // namespace fairlead::cluster
