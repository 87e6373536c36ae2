#include "routing/registry.h"

#include <ctime>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> ids_of(const std::vector<WorkerView>& workers) {
  std::vector<std::string> ids;
  for (const WorkerView& view : workers) ids.push_back(view.report.id.str());
  return ids;
}

}  // namespace

TEST(Registry, KeepsWhatAWorkerReported) {
  WorkerRegistry registry;
  WorkerReport report{.id = WorkerId("w"),
                      .pool = PoolName("gpu"),
                      .active_jobs = 3,
                      .max_parallel_jobs = 8,
                      .cpu_load = 40,
                      .gpu_utilization = 20,
                      .memory_load = 10,
                      .labels = {{"node.zone", "eu"}},
                      .capabilities = {"cuda"},
                      .region = "eu-1",
                      .type = "python"};
  registry.heartbeat(report, at(7));
  const WorkerView* view = registry.find(WorkerId("w"));
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->report.pool, PoolName("gpu"));
  EXPECT_EQ(view->report.memory_load, 10);
  EXPECT_EQ(view->report.labels, report.labels);
  EXPECT_EQ(view->report.capabilities, report.capabilities);
  EXPECT_EQ(view->report.region, "eu-1");
  EXPECT_EQ(view->report.type, "python");
  EXPECT_EQ(view->last_seen, at(7));
  EXPECT_EQ(view->load, 3);
  EXPECT_DOUBLE_EQ(view->score, 3.6);
  EXPECT_FALSE(view->overloaded);
  EXPECT_EQ(view->free_slots, 5);
  EXPECT_EQ(view->slot_limit, 8);
}

TEST(Registry, AWorkerWithoutCapacityHasNoLimit) {
  WorkerRegistry registry;
  registry.heartbeat(worker("w"), at(0));
  EXPECT_EQ(registry.find(WorkerId("w"))->free_slots, INT32_MAX);
  EXPECT_EQ(registry.find(WorkerId("w"))->slot_limit, 0);
}

TEST(Registry, ListsWorkersById) {
  WorkerRegistry registry;
  for (const char* id : {"c", "a", "b"}) registry.heartbeat(worker(id), at(0));
  EXPECT_THAT(ids_of(registry.workers()), ElementsAre("a", "b", "c"));
  EXPECT_EQ(registry.size(), 3u);
}

TEST(Registry, AWorkerIsAliveUpToItsTtlInclusive) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("w"), at(100));
  EXPECT_TRUE(registry.alive(WorkerId("w"), at(100)));
  EXPECT_TRUE(registry.alive(WorkerId("w"), at(130)));
  EXPECT_FALSE(registry.alive(WorkerId("w"), at(130.000001)));
  EXPECT_FALSE(registry.alive(WorkerId("unknown"), at(100)));
}

TEST(Registry, SweepForgetsAndNamesTheExpired) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("b"), at(0));
  registry.heartbeat(worker("a"), at(1));
  registry.heartbeat(worker("c"), at(20));
  EXPECT_THAT(registry.sweep(at(30)), IsEmpty());
  EXPECT_THAT(registry.sweep(at(32)), ElementsAre(WorkerId("a"), WorkerId("b")));
  EXPECT_EQ(registry.find(WorkerId("a")), nullptr);
  EXPECT_EQ(registry.size(), 1u);
  EXPECT_THAT(registry.sweep(at(32)), IsEmpty());
}

TEST(Registry, AWorkerThatLeftIsForgottenAtOnceAndNotLost) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("w"), at(0));
  registry.left(WorkerId("w"));
  registry.left(WorkerId("unknown"));
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(registry.find(WorkerId("w")), nullptr);
  EXPECT_FALSE(registry.alive(WorkerId("w"), at(1)));
  EXPECT_TRUE(registry.heard_lately(WorkerId("w"), at(30)));
  EXPECT_FALSE(registry.heard_lately(WorkerId("w"), at(31)));
  EXPECT_THAT(registry.sweep(at(31)), IsEmpty());
  EXPECT_FALSE(registry.heard_lately(WorkerId("w"), at(1)));
}

TEST(Registry, AWorkerThatLeftAndCameBackExpiresByItsLastHeartbeat) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(busy_worker("w", 1, 2), at(0));
  registry.hold(JobId("j"), WorkerId("w"));
  registry.left(WorkerId("w"));
  EXPECT_THAT(registry.held_jobs(WorkerId("w")), ElementsAre(JobId("j")));
  EXPECT_EQ(registry.heartbeat(busy_worker("w", 1, 2), at(10)).effect, HeartbeatEffect::kOpened);
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 1);
  EXPECT_THAT(registry.sweep(at(31)), IsEmpty());
  EXPECT_THAT(registry.sweep(at(41)), ElementsAre(WorkerId("w")));
  EXPECT_THAT(registry.sweep(at(100)), IsEmpty());
}

TEST(Registry, AHeartbeatPutsExpiryOff) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("w"), at(0));
  registry.heartbeat(worker("w"), at(25));
  EXPECT_THAT(registry.sweep(at(55)), IsEmpty());
  EXPECT_THAT(registry.sweep(at(56)), ElementsAre(WorkerId("w")));
}

TEST(Registry, WhatAWarmStartKnewIsAgedByItsOwnTime) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("live"), at(100));
  registry.heartbeat(worker("snapshot"), at(80));
  EXPECT_TRUE(registry.alive(WorkerId("snapshot"), at(110)));
  EXPECT_THAT(registry.sweep(at(111)), ElementsAre(WorkerId("snapshot")));
}

TEST(Registry, AnOlderReportDoesNotOverrideALiveOne) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w", 1, 10), at(100));
  Heard heard = registry.heartbeat(busy_worker("w", 9, 10), at(99));
  EXPECT_EQ(heard.effect, HeartbeatEffect::kRefused);
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 1);
}

TEST(Registry, RefusesAnInvalidReportAndSaysWhy) {
  WorkerRegistry registry;
  Heard heard = registry.heartbeat(worker("a.b"), at(0));
  EXPECT_EQ(heard.effect, HeartbeatEffect::kRefused);
  EXPECT_THAT(heard.problem, HasSubstr("dot"));
  EXPECT_EQ(registry.size(), 0u);
}

TEST(Registry, RefusesFurtherWorkersWhenFullButNotTheKnown) {
  WorkerRegistry registry;
  for (size_t i = 0; i < limits::kWorkersMax; ++i) {
    registry.heartbeat(worker(std::to_string(i)), at(0));
  }
  Heard heard = registry.heartbeat(worker("one-more"), at(0));
  EXPECT_EQ(heard.effect, HeartbeatEffect::kRefused);
  EXPECT_THAT(heard.problem, HasSubstr("full"));
  EXPECT_EQ(registry.heartbeat(worker("0"), at(0)).effect, HeartbeatEffect::kRefreshed);
}

TEST(Registry, OpensAWorkerThatWasUnknownExpiredOverloadedOrElsewhere) {
  WorkerRegistry registry(std::chrono::seconds(30));
  auto effect = [&](const WorkerReport& report, double seconds) {
    return registry.heartbeat(report, at(seconds)).effect;
  };
  EXPECT_EQ(effect(busy_worker("w", 0, 10), 0), HeartbeatEffect::kOpened);
  EXPECT_EQ(effect(busy_worker("w", 1, 10), 1), HeartbeatEffect::kRefreshed);
  EXPECT_EQ(effect(busy_worker("w", 9, 10), 2), HeartbeatEffect::kRefreshed);
  EXPECT_EQ(effect(busy_worker("w", 8, 10), 3), HeartbeatEffect::kOpened);
  EXPECT_EQ(effect(busy_worker("w", 8, 10), 33), HeartbeatEffect::kRefreshed);
  EXPECT_EQ(effect(busy_worker("w", 8, 10), 64), HeartbeatEffect::kOpened);
  registry.sweep(at(100));
  EXPECT_EQ(effect(busy_worker("w", 8, 10), 101), HeartbeatEffect::kOpened);
  EXPECT_EQ(effect(worker("w", "other"), 102), HeartbeatEffect::kOpened);
  WorkerReport labelled = worker("w", "other");
  labelled.labels = {{"node.zone", "eu"}};
  EXPECT_EQ(effect(labelled, 103), HeartbeatEffect::kOpened);
  EXPECT_EQ(effect(busy_worker("new", 1, 1), 104), HeartbeatEffect::kRefreshed);
}

TEST(Registry, AHeldJobCountsAtOnceAndUntilItIsReleased) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w", 0, 10), at(0));
  registry.hold(JobId("j1"), WorkerId("w"));
  registry.hold(JobId("j2"), WorkerId("w"));
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 2);
  EXPECT_EQ(registry.find(WorkerId("w"))->held, 2);
  EXPECT_EQ(registry.find(WorkerId("w"))->free_slots, 8);
  registry.release(JobId("j1"));
  registry.release(JobId("unknown"));
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 1);
  EXPECT_THAT(registry.held_jobs(WorkerId("w")), ElementsAre(JobId("j2")));
}

TEST(Registry, HoldingAJobTwiceCountsItOnce) {
  WorkerRegistry registry;
  registry.heartbeat(worker("w"), at(0));
  registry.hold(JobId("j"), WorkerId("w"));
  registry.hold(JobId("j"), WorkerId("w"));
  EXPECT_EQ(registry.find(WorkerId("w"))->held, 1);
}

TEST(Registry, AJobHeldElsewhereMoves) {
  WorkerRegistry registry;
  registry.heartbeat(worker("a"), at(0));
  registry.heartbeat(worker("b"), at(0));
  for (const char* job : {"j1", "j2", "j3"}) registry.hold(JobId(job), WorkerId("a"));
  registry.hold(JobId("j2"), WorkerId("b"));
  EXPECT_THAT(registry.held_jobs(WorkerId("a")), ElementsAre(JobId("j1"), JobId("j3")));
  EXPECT_THAT(registry.held_jobs(WorkerId("b")), ElementsAre(JobId("j2")));
  EXPECT_EQ(registry.find(WorkerId("a"))->load, 2);
}

TEST(Registry, JobsHeldBeforeAWorkerIsKnownCountWhenItComes) {
  WorkerRegistry registry;
  registry.hold(JobId("j"), WorkerId("w"));
  EXPECT_EQ(registry.find(WorkerId("w")), nullptr);
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_FALSE(registry.alive(WorkerId("w"), at(0)));
  registry.heartbeat(busy_worker("w", 0, 1), at(0));
  EXPECT_TRUE(registry.find(WorkerId("w"))->overloaded);
}

TEST(Registry, JobsOfAnExpiredWorkerStayHeldAndCountWhenItReturns) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("w"), at(0));
  registry.hold(JobId("j1"), WorkerId("w"));
  registry.hold(JobId("j2"), WorkerId("w"));
  registry.sweep(at(31));
  EXPECT_THAT(registry.held_jobs(WorkerId("w")), ElementsAre(JobId("j1"), JobId("j2")));
  registry.release(JobId("j1"));
  registry.heartbeat(worker("w"), at(32));
  EXPECT_EQ(registry.find(WorkerId("w"))->held, 1);
}

TEST(Registry, AnExpiredWorkerIsForgottenWithItsLastJob) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(busy_worker("w", 4, 10), at(0));
  registry.hold(JobId("j"), WorkerId("w"));
  registry.sweep(at(31));
  registry.release(JobId("j"));
  EXPECT_THAT(registry.held_jobs(WorkerId("w")), IsEmpty());
  registry.heartbeat(busy_worker("w", 0, 10), at(32));
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 0);
}

TEST(Registry, AJobOfAnotherReplicaThatEndedFreesItsPlaceBeforeTheNextReport) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w", 2, 2), at(0));
  registry.ended(JobId("theirs"), WorkerId("w"));
  EXPECT_EQ(registry.find(WorkerId("w"))->load, 1);
  EXPECT_FALSE(registry.find(WorkerId("w"))->overloaded);
  registry.ended(JobId("theirs"), WorkerId("unknown"));
  EXPECT_EQ(registry.find(WorkerId("unknown")), nullptr);
}

TEST(Registry, AnOwnJobThatEndedIsReleasedWhereverItWasHeld) {
  WorkerRegistry registry;
  registry.heartbeat(worker("w"), at(0));
  registry.hold(JobId("ours"), WorkerId("w"));
  registry.ended(JobId("ours"), WorkerId("other"));
  EXPECT_EQ(registry.find(WorkerId("w"))->held, 0);
}

TEST(Registry, GhostsLendTheirPlacesButStayHeld) {
  WorkerRegistry registry;
  registry.hold(JobId("lost"), WorkerId("w"));
  registry.heartbeat(busy_worker("w", 1, 1), at(0));
  for (int beat = 1; beat <= 3; ++beat) registry.heartbeat(busy_worker("w", 0, 1), at(beat));
  const WorkerView* view = registry.find(WorkerId("w"));
  EXPECT_EQ(view->ghosts, 1);
  EXPECT_EQ(view->held, 1);
  EXPECT_FALSE(view->overloaded);
  EXPECT_EQ(view->free_slots, 1);
  EXPECT_EQ(view->slot_limit, 2);
}

TEST(Registry, AWorkerIsNeverOpenWithAllItsPlacesTaken) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w", 0, 3), at(0));
  for (int job = 0; job < 3; ++job) {
    EXPECT_FALSE(registry.find(WorkerId("w"))->overloaded);
    registry.hold(JobId(std::to_string(job)), WorkerId("w"));
    registry.heartbeat(busy_worker("w", 0, 3), at(job));
  }
  EXPECT_TRUE(registry.find(WorkerId("w"))->overloaded);
  EXPECT_EQ(registry.find(WorkerId("w"))->free_slots, 0);
}

TEST(Registry, AWorkerThatCouldNotBeGivenAJobIsNotPickedUntilItIsHeardAgain) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w", 0, 3), at(0));
  registry.refused(WorkerId("w"));
  registry.refused(WorkerId("unknown"));
  Route route{.pools = {PoolName("default")}};
  EXPECT_EQ(registry.candidates(route, {}).best, nullptr);
  EXPECT_EQ(registry.candidates(route, {}).matching, 1u);
  EXPECT_TRUE(registry.find(WorkerId("w"))->refused);
  // Nor when another of its jobs ends.
  registry.hold(JobId("j"), WorkerId("w"));
  registry.release(JobId("j"));
  EXPECT_EQ(registry.candidates(route, {}).best, nullptr);
  // Unless there is no other.
  ASSERT_NE(registry.last_resort(route, {}), nullptr);
  EXPECT_EQ(registry.last_resort(route, {}), &registry.find(WorkerId("w"))->report);
  EXPECT_EQ(registry.last_resort(route, std::vector{WorkerId("w")}), nullptr);
  EXPECT_EQ(registry.last_resort({.pools = {PoolName("other")}}, {}), nullptr);
  registry.heartbeat(busy_worker("full", 3, 3), at(0));
  EXPECT_EQ(registry.last_resort(route, {}), nullptr);
  EXPECT_EQ(registry.heartbeat(busy_worker("w", 0, 3), at(1)).effect, HeartbeatEffect::kOpened);
  ASSERT_NE(registry.candidates(route, {}).best, nullptr);
  EXPECT_FALSE(registry.find(WorkerId("w"))->refused);
}

TEST(Registry, TheLastResortIsTheFirstByIdThatHasRoom) {
  WorkerRegistry registry;
  const Route route{.pools = {PoolName("default")}};
  // In an order that makes their numbers run out.
  for (int i = 0; i < 100; ++i) {
    const std::string id = fmt::format("w{:03}", 99 - i);
    registry.heartbeat(busy_worker(id, 0, 1), at(0));
    registry.refused(WorkerId(id));
  }
  for (int i = 0; i < 100; ++i) {
    const WorkerReport* last = registry.last_resort(route, {});
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->id, WorkerId(fmt::format("w{:03}", i)));
    registry.hold(JobId(fmt::format("j{}", i)), last->id);
  }
  EXPECT_EQ(registry.last_resort(route, {}), nullptr);
}

// The processor's time for failing picks in one pool, with so many workers refused in another.
static double seconds_of_picks_beside(int refused) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("full", 1, 1), at(0));
  for (int i = 0; i < refused; ++i) {
    WorkerReport other = busy_worker(fmt::format("w{}", i), 0, 1);
    other.pool = PoolName("other");
    registry.heartbeat(other, at(0));
    registry.refused(other.id);
  }
  const Route route{.pools = {PoolName("default")}};
  const std::clock_t began = std::clock();
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(registry.last_resort(route, {}), nullptr);
  return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

TEST(Registry, ALastResortCostsNoMoreBesideManyWorkersThatCannotTakeTheJob) {
  const double few = seconds_of_picks_beside(10);
  EXPECT_LT(seconds_of_picks_beside(10'000), few * 20) << "a thousand times as many";
}

TEST(Registry, IdsInAnOrderMadeToExhaustTheirNumbersStayOrdered) {
  WorkerRegistry registry;
  registry.heartbeat(worker("z"), at(0));
  for (int i = 0; i < 300; ++i) registry.heartbeat(worker(fmt::format("a{:03}", i)), at(0));
  for (int i = 0; i < 300; ++i) {
    auto candidates = registry.candidates({.pools = {PoolName("default")}}, {});
    ASSERT_EQ(candidates.best->id, WorkerId(fmt::format("a{:03}", i)));
    registry.hold(JobId(std::to_string(i)), candidates.best->id);
  }
}

TEST(Registry, CountsTheLivingByPool) {
  WorkerRegistry registry;
  registry.heartbeat(worker("dead", "a"), at(0));
  registry.heartbeat(worker("w1", "a"), at(20));
  registry.heartbeat(worker("w2", "b"), at(20));
  registry.heartbeat(worker("w3", "b"), at(20));
  registry.heartbeat(worker("w4", ""), at(20));
  EXPECT_EQ(registry.count_by_pool(at(40)),
            (std::map<std::string, size_t>{{"(none)", 1}, {"a", 1}, {"b", 2}}));
}

}  // namespace fairlead::routing
