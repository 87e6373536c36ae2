#include "routing/remembered_routes.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

std::shared_ptr<const PoolMap> shared_map(std::string_view yaml) {
  return std::make_shared<const PoolMap>(pool_map(yaml));
}

constexpr const char* kPools =
    "topics: {t: [a, b], u: b}\npools: {a: {requires: [gpu]}, b: {requires: [gpu, cpu]}}";

class RememberedRoutesTest : public testing::Test {
 protected:
  // Asks twice, and expects of both what `resolve` answers.
  RememberedRoutes::Answer ask(const RouteQuery& query) {
    auto expected = resolve(*map_, query);
    auto first = routes_.resolve(map_, query);
    auto second = routes_.resolve(map_, query);
    EXPECT_EQ(first.has_value(), expected.has_value());
    EXPECT_EQ(second.has_value(), expected.has_value());
    if (!expected) {
      EXPECT_EQ(second.error().detail, expected.error().detail);
      return second;
    }
    for (const Route* route : {first->get(), second->get()}) {
      EXPECT_EQ(route->pools, expected->pools);
      EXPECT_EQ(route->placement, expected->placement);
      EXPECT_EQ(route->preferred_pool, expected->preferred_pool);
      EXPECT_EQ(route->preferred_worker, expected->preferred_worker);
      EXPECT_EQ(route->wait_class, expected->wait_class);
    }
    return second;
  }

  std::shared_ptr<const PoolMap> map_ = shared_map(kPools);
  RememberedRoutes routes_;
};

}  // namespace

TEST_F(RememberedRoutesTest, AJobThatSaysTheSameSharesTheRoute) {
  Labels labels = {{"node.zone", "eu"}, {"workflow_id", "1"}};
  auto first = ask({.topic = Topic("t"), .requires_ = {"GPU"}, .labels = &labels});
  labels["workflow_id"] = "2";
  auto second = ask({.topic = Topic("t"), .requires_ = {"GPU"}, .labels = &labels});
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(routes_.size(), 1u);
}

TEST_F(RememberedRoutesTest, EverythingThatDecidesARouteTellsRoutesApart) {
  Labels zone = {{"node.zone", "eu"}};
  Labels other_zone = {{"node.zone", "us"}};
  Labels pool = {{"preferred_pool", "b"}};
  ask({.topic = Topic("t")});
  ask({.topic = Topic("u")});
  ask({.topic = Topic("t"), .requires_ = {"gpu"}});
  ask({.topic = Topic("t"), .requires_ = {"gpu", "cpu"}});
  ask({.topic = Topic("t"), .labels = &zone});
  ask({.topic = Topic("t"), .labels = &other_zone});
  ask({.topic = Topic("t"), .labels = &pool});
  EXPECT_EQ(routes_.size(), 7u);
}

TEST_F(RememberedRoutesTest, NeedsAreNotMistakenForLabels) {
  Labels labels = {{"node.zone", "gpu"}};
  ask({.topic = Topic("t"), .labels = &labels});
  EXPECT_FALSE(ask({.topic = Topic("t"), .requires_ = {"node.zone", "gpu"}}));
}

TEST_F(RememberedRoutesTest, AnotherMapForgetsThemAll) {
  RouteQuery query{.topic = Topic("t")};
  auto before = ask(query);
  map_ = shared_map("topics: {t: c}\npools: {c: {}}");
  auto after = ask(query);
  EXPECT_EQ((*after)->pools, std::vector{PoolName("c")});
  EXPECT_EQ((*before)->pools.size(), 2u) << "who still has the route keeps it";
  EXPECT_EQ(routes_.size(), 1u);
}

TEST_F(RememberedRoutesTest, WhatIsRareOrLargeOrRefusedIsNotRemembered) {
  Labels hint = {{"preferred_worker_id", "w"}};
  ask({.topic = Topic("t"), .labels = &hint});
  Labels large = {{"node.zone", std::string(limits::kRouteKeyBytesMax, 'x')}};
  ask({.topic = Topic("t"), .labels = &large});
  ask({.topic = Topic("unknown")});
  EXPECT_EQ(routes_.size(), 0u);
}

TEST_F(RememberedRoutesTest, TheirNumberIsBounded) {
  for (size_t i = 0; i < limits::kRoutesRememberedMax + 10; ++i) {
    Labels labels = {{"node.zone", std::to_string(i)}};
    ask({.topic = Topic("t"), .labels = &labels});
    ASSERT_LE(routes_.size(), limits::kRoutesRememberedMax);
  }
}

}  // namespace fairlead::routing
