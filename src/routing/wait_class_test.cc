#include "routing/wait_class.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

std::string text_of(const WaitClass& wait_class) {
  return wait_class_text(wait_class.pools, wait_class.placement, wait_class.topic);
}

}  // namespace

TEST(WaitClass, NamesPoolsAndLabels) {
  WaitClass wait_class{.pools = {PoolName("a"), PoolName("b")}, .placement = {{"node.zone", "eu"}}};
  EXPECT_EQ(text_of(wait_class), "pools=a,b;node.zone=eu");
}

TEST(WaitClass, ComesBackFromItsText) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  WaitClass wait_class{.pools = {PoolName("a,b;c=d%41"), PoolName(every_byte)},
                       .placement = {{"node.=;,%", every_byte}, {"node.a", ""}}};
  std::ranges::sort(wait_class.pools);
  auto parsed = parse_wait_class(text_of(wait_class));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, wait_class);
}

TEST(WaitClass, NamesTheTopicWhereItMatters) {
  WaitClass wait_class{
      .pools = {PoolName("a")}, .placement = {{"node.zone", "eu"}}, .topic = Topic("job.x;y")};
  EXPECT_EQ(text_of(wait_class), "pools=a;topic=job.x%3By;node.zone=eu");
  auto parsed = parse_wait_class(text_of(wait_class));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, wait_class);
  EXPECT_FALSE(parse_wait_class("pools=a;topic="));

  WorkerReport report = worker("w", "a");
  report.labels = {{"node.zone", "eu"}};
  EXPECT_TRUE(fits(wait_class, report));
  report.ready_topics = {"job.x;y"};
  EXPECT_TRUE(fits(wait_class, report));
  report.ready_topics = {"job.z"};
  EXPECT_FALSE(fits(wait_class, report));
}

TEST(WaitClass, SeparatorsInNamesDoNotMakeTwoClassesOne) {
  EXPECT_NE(text_of({.pools = {PoolName("a,b")}}),
            text_of({.pools = {PoolName("a"), PoolName("b")}}));
  EXPECT_NE(text_of({.pools = {PoolName("a")}, .placement = {{"node.x", "1;node.y=2"}}}),
            text_of({.pools = {PoolName("a")}, .placement = {{"node.x", "1"}, {"node.y", "2"}}}));
}

TEST(WaitClass, AnythingElseIsNoClass) {
  for (const char* text : {"", "tenant=a", "pool=a", "pools=b,a", "pools=a,a", "pools=a;node.zone",
                           "pools=a;node.b=1;node.a=2", "pools=a;", "pools=%4", "pools=%zz",
                           "pools=%41", "pools=a b", "pools=%2c", "pools=a;node.a=1=2"}) {
    EXPECT_FALSE(parse_wait_class(text)) << text;
  }
}

TEST(WaitClass, FitsWorkersOfItsPoolsThatCarryItsLabels) {
  WaitClass wait_class{.pools = {PoolName("a"), PoolName("b")}, .placement = {{"node.zone", "eu"}}};
  WorkerReport report = worker("w", "b");
  EXPECT_FALSE(fits(wait_class, report));
  report.labels = {{"node.zone", "eu"}, {"team", "x"}};
  EXPECT_TRUE(fits(wait_class, report));
  report.pool = PoolName("c");
  EXPECT_FALSE(fits(wait_class, report));
}

}  // namespace fairlead::routing
