#include "routing/route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"
#include "routing/wait_class.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;
using testing::ElementsAre;
using testing::HasSubstr;

const PoolMap& house() {
  static const PoolMap map = pool_map(R"(
topics:
  job.default: default
  job.train: [gpu-big, plain, gpu-small]
  job.mixed: [old, plain]
  job.resting: [old, gone]
pools:
  default: {}
  plain: {}
  gpu-big: {requires: [GPU, cuda, a100]}
  gpu-small: {requires: [gpu, cuda]}
  old: {status: draining}
  gone: {status: inactive}
)");
  return map;
}

RouteQuery query(const char* topic, std::vector<std::string> needs = {},
                 const Labels* labels = nullptr) {
  return {.topic = Topic(topic), .requires_ = std::move(needs), .labels = labels};
}

Refusal refusal_of(const RouteQuery& asked) {
  auto route = resolve(house(), asked);
  EXPECT_FALSE(route);
  return route ? Refusal{} : route.error();
}

}  // namespace

TEST(Route, ATopicWithoutNeedsHasAllItsPoolsInOrder) {
  auto route = resolve(house(), query("job.train"));
  ASSERT_TRUE(route);
  EXPECT_THAT(route->pools,
              ElementsAre(PoolName("gpu-big"), PoolName("plain"), PoolName("gpu-small")));
}

TEST(Route, AMissingTopicIsADispatchFailure) {
  for (const char* topic : {"", "  \t"}) {
    Refusal refusal = refusal_of(query(topic));
    EXPECT_EQ(refusal.code, ReasonCode::kDispatchFailed);
    EXPECT_EQ(refusal.detail, "missing topic");
  }
}

TEST(Route, AnUnknownTopicHasNoPoolMapping) {
  Refusal refusal = refusal_of(query("job.unknown"));
  EXPECT_EQ(refusal.code, ReasonCode::kNoPoolMapping);
  EXPECT_EQ(refusal.detail, "no pool mapping for topic \"job.unknown\"");
  EXPECT_FALSE(refusal.hint);
}

TEST(Route, OnlyPoolsThatOfferEveryNeedQualify) {
  auto route = resolve(house(), query("job.train", {"gpu", "cuda"}));
  ASSERT_TRUE(route);
  EXPECT_THAT(route->pools, ElementsAre(PoolName("gpu-big"), PoolName("gpu-small")));
}

TEST(Route, NeedsIgnoreCaseSpacesAndBlanks) {
  auto route = resolve(house(), query("job.train", {" A100 ", "", "  ", "gPu"}));
  ASSERT_TRUE(route);
  EXPECT_THAT(route->pools, ElementsAre(PoolName("gpu-big")));
  EXPECT_TRUE(resolve(house(), query("job.default", {"", " "})));
}

TEST(Route, APoolThatOffersNothingSatisfiesNoNeed) {
  Refusal refusal = refusal_of(query("job.default", {"gpu"}));
  EXPECT_EQ(refusal.code, ReasonCode::kNoPoolMapping);
  EXPECT_EQ(refusal.detail, "no pool satisfies requires gpu for topic \"job.default\"");
}

TEST(Route, APreferredPoolBecomesTheOnlyOne) {
  Labels labels = {{"preferred_pool", "plain"}};
  auto route = resolve(house(), query("job.train", {}, &labels));
  ASSERT_TRUE(route);
  EXPECT_THAT(route->pools, ElementsAre(PoolName("plain")));
  EXPECT_EQ(route->preferred_pool, "plain");
}

TEST(Route, APreferredPoolThatIsNotMappedFails) {
  Labels labels = {{"preferred_pool", "gpu-big"}};
  Refusal refusal = refusal_of(query("job.default", {}, &labels));
  EXPECT_EQ(refusal.code, ReasonCode::kNoPoolMapping);
  EXPECT_EQ(refusal.detail, "preferred pool \"gpu-big\" not mapped for topic \"job.default\"");
  EXPECT_EQ(refusal.hint, (HintOutcome{"preferred_pool", "gpu-big", false, "pool_not_mapped"}));
}

TEST(Route, APreferredPoolMustStillMeetTheNeeds) {
  Labels labels = {{"preferred_pool", "plain"}};
  Refusal refusal = refusal_of(query("job.train", {"gpu"}, &labels));
  EXPECT_THAT(refusal.detail, HasSubstr("no pool satisfies requires gpu"));
  EXPECT_EQ(refusal.hint, (HintOutcome{"preferred_pool", "plain", false, "pool_ineligible"}));
}

TEST(Route, AnEmptyHintIsNoHint) {
  Labels labels = {{"preferred_pool", ""}, {"preferred_worker_id", ""}};
  auto route = resolve(house(), query("job.default", {}, &labels));
  ASSERT_TRUE(route);
  EXPECT_EQ(route->preferred_worker, "");
}

TEST(Route, CarriesThePlacementLabelsAndThePreferredWorker) {
  Labels labels = {{"node.zone", "eu"}, {"node_id", "n"}, {"preferred_worker_id", "w2"}};
  auto route = resolve(house(), query("job.default", {}, &labels));
  ASSERT_TRUE(route);
  EXPECT_EQ(route->placement, (Labels{{"node.zone", "eu"}}));
  EXPECT_EQ(route->preferred_worker, "w2");
}

TEST(Route, JobsThatCanTakeTheSameWorkersShareAWaitClass) {
  Labels labels = {{"node.zone", "eu"}, {"team", "a"}, {"preferred_worker_id", "w2"}};
  auto one = resolve(house(), query("job.train", {"gpu", "cuda"}, &labels));
  Labels others = {{"node.zone", "eu"}, {"team", "b"}};
  auto other = resolve(house(), query("job.train", {"CUDA"}, &others));
  EXPECT_EQ(one->wait_class, "pools=gpu-big,gpu-small;node.zone=eu");
  EXPECT_EQ(one->wait_class, other->wait_class);
  auto parsed = parse_wait_class(one->wait_class);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pools, one->pools);
  EXPECT_EQ(parsed->placement, one->placement);
}

TEST(Hazard, H25_TheTopicIsLookedUpTrimmed) {
  EXPECT_TRUE(resolve(house(), query(" job.default\n")));
}

TEST(Hazard, H26_DrainingAndInactivePoolsAreNeverRouted) {
  auto route = resolve(house(), query("job.mixed"));
  ASSERT_TRUE(route);
  EXPECT_THAT(route->pools, ElementsAre(PoolName("plain")));

  Refusal refusal = refusal_of(query("job.resting"));
  EXPECT_EQ(refusal.code, ReasonCode::kNoPoolMapping);
  EXPECT_EQ(refusal.detail,
            "no pool mapping for topic \"job.resting\": pool \"old\" is draining, pool \"gone\" is "
            "inactive");

  Labels labels = {{"preferred_pool", "old"}};
  EXPECT_EQ(refusal_of(query("job.mixed", {}, &labels)).hint->cause, "pool_ineligible");
}

}  // namespace fairlead::routing
