#include "routing/pool_map.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view yaml) {
  auto map = parse_pool_map(yaml);
  return map ? "" : map.error().message;
}

std::string repeated(std::string_view text, size_t bytes) {
  std::string out;
  while (out.size() + text.size() <= bytes) out += text;
  return out;
}

}  // namespace

TEST(PoolMap, ReadsTopicsAndPools) {
  PoolMap map = pool_map(R"(
topics:
  job.train: [gpu, spot]
  job.default: default
pools:
  default: {}
  gpu:
    requires: [CUDA, " gpu ", cuda]
    description: the big ones
  spot:
    status: draining
    drain_started_at: 2026-01-02T03:04:05Z
    drain_timeout_seconds: 300
)");
  EXPECT_THAT(*map.pools_of(Topic("job.train")), ElementsAre(PoolName("gpu"), PoolName("spot")));
  EXPECT_THAT(*map.pools_of(Topic("job.default")), ElementsAre(PoolName("default")));
  EXPECT_EQ(map.pools_of(Topic("job.other")), nullptr);
  EXPECT_THAT(map.topics(), ElementsAre(Topic("job.default"), Topic("job.train")));

  ASSERT_EQ(map.pools().size(), 3u);
  EXPECT_EQ(map.pools()[0].name, PoolName("default"));
  EXPECT_EQ(map.pools()[2].name, PoolName("spot"));
  EXPECT_THAT(map.find(PoolName("gpu"))->capabilities, ElementsAre("cuda", "gpu"));
  EXPECT_EQ(map.find(PoolName("gpu"))->description, "the big ones");
  EXPECT_EQ(map.find(PoolName("gpu"))->status, PoolStatus::kActive);
  EXPECT_EQ(map.find(PoolName("spot"))->status, PoolStatus::kDraining);
  EXPECT_EQ(map.find(PoolName("none")), nullptr);
}

TEST(PoolMap, TheFileThatShipsMapsTheDefaultTopic) {
  const char* house = std::getenv("FAIRLEAD_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(house ? house : ".") / "config" / "pools.yaml");
  std::stringstream text;
  text << file.rdbuf();
  PoolMap map = pool_map(text.str());
  EXPECT_THAT(*map.pools_of(Topic("job.default")), ElementsAre(PoolName("default")));
}

TEST(PoolMap, APoolMayBeEmptyAndAPoolNamedTwiceByATopicCountsOnce) {
  PoolMap map = pool_map("topics: {t: [a, b, a]}\npools:\n  a:\n  b: {requires: }\n");
  EXPECT_THAT(*map.pools_of(Topic("t")), ElementsAre(PoolName("a"), PoolName("b")));
}

TEST(PoolMap, ACopySharesNothing) {
  PoolMap first = pool_map("topics: {t: a}\npools: {a: {}}");
  PoolMap copy = first;
  first = pool_map("topics: {t: b}\npools: {b: {}}");
  EXPECT_THAT(*copy.pools_of(Topic("t")), ElementsAre(PoolName("a")));
}

TEST(PoolMapError, ATopicWhosePoolIsMissingNamesBothAndTheLine) {
  EXPECT_THAT(error_of("topics:\n  job.a: x\n  job.b: gpu\npools: {x: {}}"),
              AllOf(HasSubstr("line 3"), HasSubstr("\"job.b\""), HasSubstr("\"gpu\"")));
}

TEST(PoolMapError, UnknownKeysAreRejectedWithTheKnownOnes) {
  EXPECT_THAT(error_of("topics: {t: a}\npools: {a: {}}\ntimeouts: {}"),
              AllOf(HasSubstr("line 3"), HasSubstr("\"timeouts\""), HasSubstr("topics and pools")));
  EXPECT_THAT(error_of("topics: {t: a}\npools:\n  a:\n    require: [x]\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("\"require\""), HasSubstr("requires, status")));
}

TEST(PoolMapError, AtLeastOneTopicIsNeeded) {
  for (const char* yaml :
       {"", "# nothing", "topics:", "topics: {}", "pools: {a: {}}", "---\n---\n"}) {
    EXPECT_NE(error_of(yaml), "") << yaml;
  }
}

TEST(PoolMapError, ATopicNamesAPoolOrAListOfPools) {
  for (const char* value : {"", "[]", "{a: b}", "[[a]]", "''", "[a, '']", "[a, {}]"}) {
    std::string yaml = std::string("pools: {a: {}}\ntopics:\n  t: ") + value + "\n";
    EXPECT_THAT(error_of(yaml), HasSubstr("line 3")) << value;
  }
}

TEST(PoolMapError, AStatusIsOneOfThree) {
  EXPECT_THAT(error_of("topics: {t: a}\npools:\n  a: {status: off}\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("active, draining or inactive")));
}

TEST(PoolMapError, ADrainTimeoutIsAWholeNumberOfSeconds) {
  for (const char* value : {"-1", "soon", "1.5", "[]", "99999999999999999999"}) {
    std::string yaml =
        std::string("topics: {t: a}\npools: {a: {drain_timeout_seconds: ") + value + "}}";
    EXPECT_THAT(error_of(yaml), HasSubstr("drain_timeout_seconds")) << value;
  }
}

TEST(PoolMapError, ANameGivenTwiceIsRejected) {
  EXPECT_THAT(error_of("topics:\n  t: a\n  t: b\npools: {a: {}, b: {}}"),
              AllOf(HasSubstr("line 3"), HasSubstr("twice")));
  EXPECT_THAT(error_of("topics: {t: a}\npools: {a: {}, a: {}}"), HasSubstr("twice"));
}

TEST(PoolMapError, TextThatTheParserStumblesOnIsRefusedAndDoesNotHang) {
  EXPECT_THAT(error_of(std::string(",\0t", 3)), HasSubstr("one YAML document"));
}

TEST(PoolMapError, WhatIsNoYamlSaysWhere) {
  EXPECT_THAT(error_of("topics: {t: a}\npools: [unclosed\n"), HasSubstr("line"));
}

TEST(PoolMapError, HostileTextIsRefusedAndNotUnfolded) {
  constexpr size_t kLarge = 200'000;
  EXPECT_THAT(error_of(std::string((1 << 20) + 1, ' ')), HasSubstr("bytes"));
  for (const char* text :
       {"[", "{", "- ", "? ", "{a: ", "- [", "!", "&a ", "*", "\"", "|\n ", ": "}) {
    EXPECT_NE(error_of(repeated(text, kLarge)), "") << text;
  }
  EXPECT_NE(error_of(std::string(kLarge, '\0')), "");
  EXPECT_NE(error_of(std::string(kLarge, '\xff')), "");

  std::string bomb = "pools: {a: {}}\ntopics:\n  t0: &list [" + repeated("a, ", 200'000) + "a]\n";
  for (int i = 1; i < 20'000; ++i) bomb += "  t" + std::to_string(i) + ": *list\n";
  EXPECT_THAT(error_of(bomb), HasSubstr("more than"));
  EXPECT_THAT(error_of("topics: {t: " + std::string(10'000, 'a') + "}"), HasSubstr("longer than"));
}

}  // namespace fairlead::routing
