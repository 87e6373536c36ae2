#include "routing/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;
using testing::ElementsAre;
using testing::HasSubstr;

// A registry of one pool, "default", unless a test says more.
class Placement : public testing::Test {
 protected:
  void hear(const WorkerReport& report) { registry_.heartbeat(report, at(0)); }

  // The id of the pick, or the code of the failure.
  std::string picked(const Route& route = route_to({"default"}),
                     std::vector<WorkerId> excluded = {}) {
    hints_.clear();
    auto pick_of = pick(registry_, route, excluded, &hints_);
    return pick_of ? pick_of->worker.str() : to_string(pick_of.error().code);
  }

  std::string picked_with_hint(const std::string& preferred, Labels placement = {}) {
    Route route = route_to({"default"}, std::move(placement));
    route.preferred_worker = preferred;
    return picked(route);
  }

  std::string cause() const { return hints_.at(0).cause; }

  WorkerRegistry registry_;
  std::vector<HintOutcome> hints_;
};

}  // namespace

TEST_F(Placement, LowestScoreOfThePoolWinsAndOtherPoolsAreIgnored) {
  hear(busy_worker("w1", 5, 100));
  hear(busy_worker("w2", 2, 100, 30));
  hear(busy_worker("w3", 2, 100, 20));
  hear(worker("idle", "other"));
  EXPECT_EQ(picked(), "w3");
}

TEST_F(Placement, GpuCountsIntoTheScoreAsCpuDoes) {
  WorkerReport gpu_busy = worker("w1");
  gpu_busy.gpu_utilization = 40;
  hear(gpu_busy);
  hear(busy_worker("w2", 0, 0, 30));
  EXPECT_EQ(picked(), "w2");
}

TEST_F(Placement, TheSubjectIsTheWorkersOwn) {
  hear(worker("w1"));
  EXPECT_EQ(pick(registry_, route_to({"default"}))->subject, "worker.w1.jobs");
}

TEST_F(Placement, AnOverloadedWorkerIsSkippedHoweverLowItsScore) {
  hear(busy_worker("w1", 0, 10, 90));
  hear(busy_worker("w2", 8, 10));
  EXPECT_EQ(picked(), "w2");
}

TEST_F(Placement, WithoutWorkersInThePoolsThereAreNoWorkers) {
  hear(worker("w1", "other"));
  auto failed = pick(registry_, route_to({"default", "spare"}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ReasonCode::kNoWorkers);
  EXPECT_THAT(failed.error().detail, HasSubstr("\"default,spare\""));
}

TEST_F(Placement, WhenAllAreOverloadedThePoolIs) {
  hear(busy_worker("w1", 1, 1));
  hear(busy_worker("w2", 0, 1, 95));
  auto failed = pick(registry_, route_to({"default"}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ReasonCode::kPoolOverloaded);
  EXPECT_THAT(failed.error().detail, HasSubstr("\"default\""));
}

TEST_F(Placement, SeveralPoolsCompeteAsOne) {
  hear(busy_worker("w1", 3, 10));
  WorkerReport spare = worker("w2", "spare");
  spare.active_jobs = 2;
  hear(spare);
  EXPECT_EQ(picked(route_to({"default", "spare"})), "w2");
  EXPECT_EQ(picked(route_to({"default"})), "w1");
}

TEST_F(Placement, PlacementLabelsMustAllMatch) {
  hear(labelled_worker("w1", {{"node.zone", "us"}}));
  hear(labelled_worker("w2", {}));
  EXPECT_EQ(picked(route_to({"default"}, {{"node.zone", "eu"}})), "no_workers");
  hear(labelled_worker("w3", {{"node.zone", "eu"}}));
  EXPECT_EQ(picked(route_to({"default"}, {{"node.zone", "eu"}})), "w3");
  EXPECT_EQ(picked(route_to({"default"}, {{"node.os", "x"}, {"node.zone", "eu"}})), "no_workers");
}

TEST_F(Placement, OverloadedWorkersThatDoNotMatchAreNoOverloadedPool) {
  hear(labelled_worker("w1", {{"node.zone", "eu"}}));
  hear(busy_worker("w2", 1, 1));
  registry_.sweep(at(0));
  EXPECT_EQ(picked(route_to({"default"}, {{"node.zone", "us"}})), "no_workers");
  WorkerReport full = labelled_worker("w1", {{"node.zone", "eu"}});
  full.cpu_load = 95;
  hear(full);
  EXPECT_EQ(picked(route_to({"default"}, {{"node.zone", "eu"}})), "pool_overloaded");
}

TEST_F(Placement, AWorkerThatChangesLabelsOrPoolIsFoundByTheNewOnes) {
  Route eu = route_to({"default"}, {{"node.zone", "eu"}});
  hear(labelled_worker("w1", {{"node.zone", "eu"}}));
  EXPECT_EQ(picked(eu), "w1");
  hear(labelled_worker("w1", {{"node.zone", "us"}}));
  EXPECT_EQ(picked(eu), "no_workers");
  EXPECT_EQ(picked(route_to({"default"}, {{"node.zone", "us"}})), "w1");
  hear(worker("w1", "other"));
  EXPECT_EQ(picked(), "no_workers");
  EXPECT_EQ(picked(route_to({"other"})), "w1");
}

TEST_F(Placement, TiesGoToTheFewestOfOurOwnInFlight) {
  hear(busy_worker("w1", 0, 10));
  registry_.hold(JobId("j"), WorkerId("w1"));
  hear(busy_worker("w1", 1, 10));
  hear(busy_worker("w2", 1, 10));
  EXPECT_EQ(picked(), "w2");
}

TEST_F(Placement, ThenToTheMostFreeCapacity) {
  hear(busy_worker("w1", 1, 10));
  hear(busy_worker("w2", 1, 20));
  EXPECT_EQ(picked(), "w2");
  hear(busy_worker("w3", 1, 0));
  EXPECT_EQ(picked(), "w3");
}

TEST_F(Placement, ThenToTheFirstId) {
  for (const char* id : {"w3", "w1", "w2"}) hear(worker(id));
  EXPECT_EQ(picked(), "w1");
}

TEST_F(Placement, PreferredWorkerWinsOverALessLoadedOne) {
  hear(busy_worker("w1", 0, 10));
  hear(busy_worker("w2", 5, 10));
  EXPECT_EQ(picked_with_hint("w2"), "w2");
  EXPECT_THAT(hints_, ElementsAre(HintOutcome{"preferred_worker_id", "w2", true, ""}));
  Route route = route_to({"default"});
  route.preferred_worker = "w2";
  EXPECT_TRUE(pick(registry_, route)->by_hint);
}

TEST_F(Placement, OverloadedPreferredWorkerFallsBackToLeastLoaded) {
  hear(busy_worker("w1", 1, 10));
  hear(busy_worker("w2", 9, 10));
  EXPECT_EQ(picked_with_hint("w2"), "w1");
  EXPECT_THAT(hints_, ElementsAre(HintOutcome{"preferred_worker_id", "w2", false, "overloaded"}));
}

TEST_F(Placement, PreferredWorkerOfAnotherPoolFallsBack) {
  hear(worker("w1"));
  hear(worker("w2", "other"));
  EXPECT_EQ(picked_with_hint("w2"), "w1");
  EXPECT_EQ(cause(), "pool_ineligible");
}

TEST_F(Placement, PreferredWorkerWithOtherLabelsFallsBack) {
  hear(labelled_worker("w1", {{"node.zone", "eu"}}));
  hear(worker("w2"));
  EXPECT_EQ(picked_with_hint("w2", {{"node.zone", "eu"}}), "w1");
  EXPECT_EQ(cause(), "label_mismatch");
}

TEST_F(Placement, UnknownPreferredWorkerFallsBack) {
  hear(worker("w1"));
  EXPECT_EQ(picked_with_hint("w2"), "w1");
  EXPECT_EQ(cause(), "not_found");
}

TEST_F(Placement, AnAcceptedPreferredPoolIsReportedToo) {
  hear(worker("w1"));
  Route route = route_to({"default"});
  route.preferred_pool = "default";
  EXPECT_EQ(picked(route), "w1");
  EXPECT_THAT(hints_, ElementsAre(HintOutcome{"preferred_pool", "default", true, ""}));
}

TEST_F(Placement, BusinessLabelsOfWorkersDoNotMatter) {
  hear(labelled_worker("w1", {{"team", "search"}, {"node_id", "7"}}));
  EXPECT_EQ(picked(), "w1");
}

TEST_F(Placement, ExcludedWorkersAreAsIfAbsent) {
  for (const char* id : {"w1", "w2", "w3"}) hear(worker(id));
  Route route = route_to({"default"});
  EXPECT_EQ(picked(route, {WorkerId("w1")}), "w2");
  EXPECT_EQ(picked(route, {WorkerId("w1"), WorkerId("w1"), WorkerId("gone"), WorkerId("w2")}),
            "w3");
  EXPECT_EQ(picked(route, {WorkerId("w1"), WorkerId("w2"), WorkerId("w3")}), "no_workers");
}

TEST_F(Placement, WhenTheRestIsOverloadedExclusionLeavesAnOverloadedPool) {
  hear(worker("w1"));
  hear(busy_worker("w2", 1, 1));
  EXPECT_EQ(picked(route_to({"default"}), {WorkerId("w1")}), "pool_overloaded");
  EXPECT_EQ(picked(route_to({"default"}), {WorkerId("w1"), WorkerId("w2")}), "no_workers");
}

TEST_F(Placement, AnIdleWorkerOfCapacityOneTakesOneJob) {
  hear(busy_worker("w1", 0, 1));
  EXPECT_EQ(picked(), "w1");
  registry_.hold(JobId("j"), WorkerId("w1"));
  EXPECT_EQ(picked(), "pool_overloaded");
  registry_.release(JobId("j"));
  EXPECT_EQ(picked(), "w1");
}

TEST_F(Placement, NeverGivesAWorkerMoreThanItsCapacityWhateverItReports) {
  hear(busy_worker("w1", 0, 4));
  int given = 0;
  while (picked() == "w1") {
    registry_.hold(JobId(std::to_string(given++)), WorkerId("w1"));
    hear(busy_worker("w1", 0, 4));
    ASSERT_LE(given, 4);
  }
  EXPECT_EQ(given, 4);
}

TEST_F(Placement, ARestartedWorkerIsPickedAgainOnceItsJobsAreGhosts) {
  hear(busy_worker("w1", 0, 1));
  registry_.hold(JobId("lost"), WorkerId("w1"));
  hear(busy_worker("w1", 1, 1));
  for (int beat = 0; beat < 2; ++beat) hear(busy_worker("w1", 0, 1));
  EXPECT_EQ(picked(), "pool_overloaded");
  hear(busy_worker("w1", 0, 1));
  EXPECT_EQ(picked(), "w1");
}

TEST(Hazard, H23_JobsBetweenHeartbeatsSpreadOverTheWorkers) {
  WorkerRegistry registry;
  for (const char* id : {"w1", "w2", "w3"}) registry.heartbeat(busy_worker(id, 0, 100), at(0));
  for (int job = 0; job < 30; ++job) {
    registry.hold(JobId(std::to_string(job)), pick(registry, route_to({"default"}))->worker);
  }
  for (const char* id : {"w1", "w2", "w3"}) EXPECT_EQ(registry.find(WorkerId(id))->load, 10);
}

TEST(Hazard, H23_AWorkerFilledBetweenHeartbeatsIsOverloaded) {
  WorkerRegistry registry;
  registry.heartbeat(busy_worker("w1", 5, 10), at(0));
  Route route = route_to({"default"});
  for (int job = 0; job < 4; ++job) {
    ASSERT_TRUE(pick(registry, route));
    registry.hold(JobId(std::to_string(job)), WorkerId("w1"));
  }
  EXPECT_EQ(pick(registry, route).error().code, ReasonCode::kPoolOverloaded);
  route.preferred_worker = "w1";
  EXPECT_EQ(pick(registry, route).error().code, ReasonCode::kPoolOverloaded);
}

TEST(Hazard, H28_APickThatIsExcludedAsStaleIsNotPickedAgain) {
  WorkerRegistry registry(std::chrono::seconds(30));
  registry.heartbeat(worker("w1"), at(0));
  registry.heartbeat(busy_worker("w2", 5, 10), at(20));
  Route route = route_to({"default"});
  route.preferred_worker = "w1";
  auto first = pick(registry, route);
  ASSERT_EQ(first->worker, WorkerId("w1"));
  ASSERT_FALSE(registry.alive(first->worker, at(40)));

  std::vector<HintOutcome> hints;
  auto second = pick(registry, route, {{first->worker}}, &hints);
  EXPECT_EQ(second->worker, WorkerId("w2"));
  EXPECT_TRUE(registry.alive(second->worker, at(40)));
  EXPECT_THAT(hints, ElementsAre(HintOutcome{"preferred_worker_id", "w1", false, "excluded"}));
}

TEST(Subject, CarriesTheWorkerId) {
  EXPECT_EQ(direct_subject(WorkerId("w-1")), "worker.w-1.jobs");
  EXPECT_EQ(worker_of_subject("worker.w-1.jobs"), "w-1");
}

TEST(Subject, AnyOtherSubjectHasNoWorker) {
  for (const char* subject :
       {"", "worker..jobs", "worker.jobs", "worker.foo", "worker.a.job", "worker.a.b.jobs",
        "worker.*.jobs", "job.default", "xworker.a.jobs"}) {
    EXPECT_EQ(worker_of_subject(subject), "") << subject;
  }
}

}  // namespace fairlead::routing
