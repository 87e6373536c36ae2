// Workers that take jobs of some topics only (RT-13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "routing/explain.h"
#include "routing/placement.h"
#include "routing/remembered_routes.h"
#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;
using testing::ElementsAre;
using testing::HasSubstr;

Route route_of_topic(const char* topic, Labels placement = {}) {
  Route route = route_to({"default"}, std::move(placement));
  route.topic = Topic(topic);
  return route;
}

std::string picked(const WorkerRegistry& registry, const Route& route) {
  auto pick = routing::pick(registry, route);
  return pick ? pick->worker.str() : job::to_string(pick.error().code);
}

}  // namespace

TEST(Readiness, AWorkerThatNamedItsTopicsIsGivenNoOthers) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.heartbeat(busy_worker("b", 3, 10), at(0));
  const Route x = route_of_topic("job.x");
  EXPECT_FALSE(registry.topics_matter());
  EXPECT_EQ(picked(registry, x), "a");
  registry.introduce(WorkerId("a"), {"job.y"});
  EXPECT_TRUE(registry.topics_matter());
  EXPECT_EQ(picked(registry, x), "b") << "one that named none takes all";
  EXPECT_EQ(picked(registry, route_of_topic("job.y")), "a");
  registry.introduce(WorkerId("b"), {"job.y", "job.z"});
  EXPECT_EQ(picked(registry, x), "no_workers");
  EXPECT_EQ(picked(registry, route_of_topic("job.z")), "b");
  registry.introduce(WorkerId("a"), {});
  EXPECT_EQ(picked(registry, x), "a");
}

TEST(Readiness, WorkersInABusyPoolAreOverloadedOnlyIfTheyTakeTheTopic) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("full", 10, 10), at(0));
  registry.heartbeat(worker("other"), at(0));
  registry.introduce(WorkerId("other"), {"job.y"});
  auto pick = routing::pick(registry, route_of_topic("job.x"));
  ASSERT_FALSE(pick);
  EXPECT_EQ(pick.error().code, ReasonCode::kPoolOverloaded);
  EXPECT_EQ(pick.error().detail, "all 1 workers in pool \"default\" for job.x are overloaded");
}

TEST(Readiness, GoesTogetherWithLabels) {
  WorkerRegistry registry;
  const Labels eu{{"node.zone", "eu"}};
  registry.heartbeat(labelled_worker("a", eu), at(0));
  registry.introduce(WorkerId("a"), {"job.y"});
  registry.heartbeat(labelled_worker("b", eu), at(0));
  registry.heartbeat(worker("c"), at(0));
  EXPECT_EQ(picked(registry, route_of_topic("job.x", eu)), "b");
  EXPECT_EQ(picked(registry, route_of_topic("job.y", eu)), "a");
}

TEST(Readiness, AnIntroductionBeforeTheFirstHeartbeatIsRemembered) {
  WorkerRegistry registry;
  registry.introduce(WorkerId("a"), {"job.y"});
  EXPECT_EQ(registry.size(), 0u);
  registry.heartbeat(worker("a"), at(0));
  EXPECT_EQ(picked(registry, route_of_topic("job.x")), "no_workers");
  registry.heartbeat(worker("a"), at(1));
  EXPECT_EQ(picked(registry, route_of_topic("job.x")), "no_workers") << "heartbeats name no topics";
}

TEST(Readiness, IsForgottenWithTheWorker) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.introduce(WorkerId("a"), {"job.y"});
  registry.sweep(at(31));
  EXPECT_FALSE(registry.topics_matter());
  registry.heartbeat(worker("a"), at(40));
  EXPECT_EQ(picked(registry, route_of_topic("job.x")), "a");
}

TEST(Readiness, AWorkerThatOpensToATopicIsToldOf) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  EXPECT_EQ(registry.introduce(WorkerId("a"), {"job.y"}).effect, HeartbeatEffect::kOpened);
  EXPECT_EQ(registry.introduce(WorkerId("a"), {"job.y", "job.y"}).effect,
            HeartbeatEffect::kRefreshed);
}

TEST(Readiness, IntroductionsAreBounded) {
  WorkerRegistry registry;
  std::vector<std::string> many(limits::kReadyTopicsMax + 1, "job.x");
  Heard heard = registry.introduce(WorkerId("a"), many);
  EXPECT_EQ(heard.effect, HeartbeatEffect::kRefused);
  EXPECT_THAT(heard.problem, HasSubstr("topics"));
  heard = registry.introduce(WorkerId("a"), {std::string(limits::kTopicBytesMax + 1, 'x')});
  EXPECT_EQ(heard.effect, HeartbeatEffect::kRefused);
  EXPECT_EQ(registry.introduce(WorkerId("a.b"), {}).effect, HeartbeatEffect::kRefused);
}

TEST(Readiness, APreferredWorkerThatDoesNotTakeTheTopicIsPassedOver) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.heartbeat(worker("b"), at(0));
  registry.introduce(WorkerId("a"), {"job.y"});
  Route route = route_of_topic("job.x");
  route.preferred_worker = "a";
  std::vector<HintOutcome> hints;
  auto pick = routing::pick(registry, route, {}, &hints);
  ASSERT_TRUE(pick);
  EXPECT_EQ(pick->worker, WorkerId("b"));
  EXPECT_THAT(hints, ElementsAre(HintOutcome{"preferred_worker_id", "a", false, "not_ready"}));
}

TEST(Readiness, AWorkerOfAnotherTopicIsNoLastResort) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.introduce(WorkerId("a"), {"job.y"});
  registry.refused(WorkerId("a"));
  EXPECT_EQ(registry.last_resort(route_of_topic("job.x"), {}), nullptr);
  EXPECT_NE(registry.last_resort(route_of_topic("job.y"), {}), nullptr);
}

TEST(Readiness, ShowsInAnExplanation) {
  PoolMap map = pool_map("topics: {job.x: default}\npools: {default: {}}\n");
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.introduce(WorkerId("a"), {"job.z", "job.y"});
  Explanation explanation =
      explain(map, registry, {.topic = Topic("job.x"), .requires_ = {}}, at(1));
  EXPECT_EQ(explanation.code, ReasonCode::kNoWorkers);
  EXPECT_EQ(explanation.detail, "no workers in pool \"default\" for job.x");
  ASSERT_EQ(explanation.workers.size(), 1u);
  EXPECT_STREQ(to_string(explanation.workers[0].verdict), "not_ready");
  EXPECT_EQ(explanation.workers[0].why, "takes only job.y, job.z");
}

TEST(Readiness, JobsOfDifferentTopicsWaitApartWhereThatMatters) {
  PoolMap map = pool_map("topics: {job.x: default, job.y: default}\npools: {default: {}}\n");
  auto class_of = [&](const char* topic, bool topics_matter) {
    RouteQuery query{.topic = Topic(topic), .requires_ = {}, .topics_matter = topics_matter};
    return resolve(map, query)->wait_class;
  };
  EXPECT_EQ(class_of("job.x", false), "pools=default");
  EXPECT_EQ(class_of("job.y", false), "pools=default");
  EXPECT_EQ(class_of("job.x", true), "pools=default;topic=job.x");
  EXPECT_EQ(class_of("job.y", true), "pools=default;topic=job.y");
  auto shared = std::make_shared<const PoolMap>(map);
  RememberedRoutes routes;
  RouteQuery query{.topic = Topic("job.x"), .requires_ = {}};
  EXPECT_EQ((*routes.resolve(shared, query))->wait_class, "pools=default");
  query.topics_matter = true;
  EXPECT_EQ((*routes.resolve(shared, query))->wait_class, "pools=default;topic=job.x");
}

}  // namespace fairlead::routing
