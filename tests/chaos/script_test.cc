#include "tests/chaos/script.h"

#include <set>

#include <gtest/gtest.h>

namespace fairlead::chaos {
namespace {

using namespace std::chrono_literals;

const Cast kCast{.replicas = {"replica-1", "replica-2"}, .workers = {"workers-1"}};

TEST(Script, IsTheSameForTheSameSeed) {
  SeededRandom one(7), same(7), other(8);
  auto texts = [](Random& random) {
    std::string all;
    for (const Fault& fault : draw_round(random, kCast, 60s)) {
      all += fault.text() + " " + std::to_string(fault.at.count()) + "\n";
    }
    return all;
  };
  const std::string first = texts(one);
  EXPECT_EQ(first, texts(same));
  EXPECT_NE(first, texts(other));
}

TEST(Script, DrawsEveryKindForEverybodyAndFewAtATime) {
  SeededRandom random(1);
  std::set<std::string> drawn;
  for (int round = 0; round < 200; ++round) {
    const auto faults = draw_round(random, kCast, 60s);
    EXPECT_FALSE(faults.empty());
    for (const Fault& fault : faults) {
      drawn.insert(fault.text());
      size_t at_once = 0;
      for (const Fault& other : faults) {
        const bool meanwhile = other.at <= fault.at && fault.at < other.at + other.lasts;
        if (!meanwhile) continue;
        ++at_once;
        EXPECT_TRUE(&other == &fault || other.node != fault.node) << fault.text();
      }
      EXPECT_LE(at_once, 3u);
    }
  }
  for (const char* node : {"replica-1", "replica-2", "workers-1", "nats", "redis"}) {
    for (const char* what : {" killed", " stopped", " told to end"}) {
      EXPECT_TRUE(drawn.contains(std::string(node) + what)) << node << what;
    }
  }
  for (const char* cut : {"replica-1 cut off from nats", "replica-1 cut off from redis",
                          "workers-1 cut off from nats"}) {
    EXPECT_TRUE(drawn.contains(cut)) << cut;
  }
}

TEST(Script, LeavesAloneWhoIsNotInTheCast) {
  SeededRandom random(1);
  const Cast only_redis{.nats = false};
  for (const Fault& fault : draw_round(random, only_redis, 600s)) {
    EXPECT_EQ(fault.node, "redis");
    EXPECT_NE(fault.kind, FaultKind::kCut);
  }
}

}  // namespace
}  // namespace fairlead::chaos
