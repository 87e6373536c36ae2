// Short campaigns; `./dev chaos --minutes N` is the long one.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/edge/child.h"

namespace fairlead::chaos {
namespace {

using testing::HasSubstr;

struct Outcome {
  int status;
  std::string output;
};

// What a campaign leaves behind goes too.
Outcome run(std::vector<std::string> words) {
  std::string folder = (std::filesystem::temp_directory_path() / "fairlead-smoke-XXXXXX").string();
  if (!::mkdtemp(folder.data())) std::abort();
  words.insert(words.begin(), CHAOS_PROGRAM);
  edge::Child campaign(words, {{"TMPDIR", folder}});
  const int status = campaign.wait();
  std::filesystem::remove_all(folder);
  return {status, campaign.output()};
}

TEST(Chaos, EveryPromiseIsKeptWhileReplicasAndWorkersSuffer) {
  const Outcome outcome = run({"--minutes", "0.2", "--seed", "2", "--rate", "30", "--timeout", "10",
                               "--only", "replicas,workers"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(" 0 violations"));
}

TEST(Chaos, EveryPromiseIsKeptWhereThereAreNoNamespaces) {
  const Outcome outcome = run({"--minutes", "0.2", "--seed", "3", "--rate", "30", "--timeout", "10",
                               "--only", "replicas,workers", "--proxies"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("proxies"));
}

// Replicas that publish before they commit believe that a dispatch is out while there is no NATS.
// What is dispatched until they notice that it went away is lost or holds its slot for nothing. How
// many that are is chance, so there is more than one try.
TEST(Chaos, APlantedBugIsFound) {
  constexpr int kSeedsAtMost = 4;
  std::string told;
  for (int seed = 1; seed <= kSeedsAtMost; ++seed) {
    const Outcome outcome =
        run({"--minutes", "0.15", "--seed", std::to_string(seed), "--rate", "100", "--timeout", "5",
             "--only", "nats", "--planted", "publish-before-commit"});
    if (outcome.status == 1 && outcome.output.contains("VIOLATION")) return;
    told += outcome.output;
  }
  FAIL() << told;
}

}  // namespace
}  // namespace fairlead::chaos
