#include "routing/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Explain : public testing::Test {
 protected:
  Explanation ask(const char* topic, Labels labels = {}, std::vector<std::string> needs = {},
                  size_t workers_max = 100) {
    RouteQuery query{.topic = Topic(topic), .requires_ = std::move(needs), .labels = &labels};
    return explain(map_, registry_, query, at(40), workers_max);
  }

  // "id verdict: why", a line for each worker.
  static std::vector<std::string> lines(const Explanation& explanation) {
    std::vector<std::string> all;
    for (const ExplainedWorker& worker : explanation.workers) {
      all.push_back(worker.worker.str() + " " + to_string(worker.verdict) + ": " + worker.why);
    }
    return all;
  }

  static std::vector<std::string> pool_lines(const Explanation& explanation) {
    std::vector<std::string> all;
    for (const ExplainedPool& pool : explanation.pools) {
      all.push_back(pool.pool.str() + (pool.taken() ? " taken" : ": " + pool.why));
    }
    return all;
  }

  PoolMap map_ = pool_map(R"(
topics:
  job.default: default
  job.train: [gpu, default, old, gone]
pools:
  default: {requires: [python]}
  gpu: {requires: [python, gpu, cuda]}
  old: {status: draining}
  gone: {status: inactive}
)");
  WorkerRegistry registry_;
};

}  // namespace

TEST_F(Explain, SaysOfEveryWorkerWhyItWasNotTaken) {
  WorkerReport eu = busy_worker("chosen", 1, 10, 50);
  eu.labels = {{"node.zone", "eu"}};
  registry_.heartbeat(eu, at(38));
  WorkerReport later = busy_worker("later", 2, 10);
  later.labels = eu.labels;
  registry_.heartbeat(later, at(38));
  WorkerReport full = busy_worker("full", 9, 10);
  full.labels = eu.labels;
  registry_.heartbeat(full, at(38));
  WorkerReport hot = busy_worker("hot", 0, 10, 91);
  hot.labels = eu.labels;
  registry_.heartbeat(hot, at(38));
  WorkerReport melting = labelled_worker("melting", eu.labels);
  melting.gpu_utilization = 99;
  registry_.heartbeat(melting, at(38));
  registry_.heartbeat(labelled_worker("us", {{"node.zone", "us"}}), at(38));
  registry_.heartbeat(worker("bare"), at(38));
  registry_.heartbeat(labelled_worker("dead", eu.labels), at(5));
  registry_.heartbeat(worker("foreign", "gpu"), at(38));

  Explanation explanation = ask("job.default", {{"node.zone", "eu"}});
  EXPECT_THAT(
      lines(explanation),
      ElementsAre("chosen chosen: lowest score", "later higher_score: score 2, not 1.5",
                  "hot overloaded: cpu 91", "melting overloaded: gpu 99",
                  "full overloaded: load 9 of 10",
                  "bare label_mismatch: node.zone is missing, not \"eu\"",
                  "us label_mismatch: node.zone is \"us\", not \"eu\"",
                  "dead stale: last heard 35000 ms ago", "foreign other_pool: in pool \"gpu\""));
  EXPECT_EQ(explanation.workers_total, 9u);
  EXPECT_EQ(explanation.chosen->subject, "worker.chosen.jobs");
  EXPECT_EQ(explanation.code, ReasonCode::kNone);
  EXPECT_EQ(explanation.workers[0].load, 1);
  EXPECT_EQ(explanation.workers[0].score, 1.5);
  EXPECT_EQ(explanation.workers[0].age, std::chrono::seconds(2));
}

TEST_F(Explain, SaysWhatDecidedBetweenEqualScores) {
  registry_.heartbeat(busy_worker("b", 1, 10), at(38));
  registry_.heartbeat(busy_worker("c", 1, 10), at(38));
  registry_.heartbeat(busy_worker("d", 1, 5), at(38));
  registry_.heartbeat(busy_worker("a", 0, 10), at(38));
  registry_.hold(JobId("j"), WorkerId("a"));
  EXPECT_THAT(lines(ask("job.default")),
              ElementsAre("b chosen: lowest score", "c higher_score: same score, later id",
                          "d higher_score: same score, less free capacity",
                          "a higher_score: same score, 1 of our jobs in flight, not 0"));
}

TEST_F(Explain, SaysOfEveryPoolWhyItWasNotTaken) {
  EXPECT_THAT(
      pool_lines(ask("job.train", {}, {"GPU", "python", "cuda"})),
      ElementsAre("gpu taken", "default: lacks cuda, gpu", "old: draining", "gone: inactive"));
  EXPECT_THAT(pool_lines(ask("job.train", {{"preferred_pool", "default"}})),
              ElementsAre("gpu: not the preferred pool", "default taken",
                          "old: not the preferred pool", "gone: not the preferred pool"));
}

TEST_F(Explain, AnUnroutableJobHasItsReasonAndEveryWorkerItsCause) {
  registry_.heartbeat(worker("w"), at(38));
  Explanation explanation = ask("job.default", {{"preferred_pool", "gpu"}});
  EXPECT_EQ(explanation.code, ReasonCode::kNoPoolMapping);
  EXPECT_THAT(explanation.detail, HasSubstr("preferred pool \"gpu\""));
  EXPECT_THAT(explanation.hints,
              ElementsAre(HintOutcome{"preferred_pool", "gpu", false, "pool_not_mapped"}));
  EXPECT_THAT(lines(explanation), ElementsAre("w other_pool: in pool \"default\": not the "
                                              "preferred pool"));
  EXPECT_FALSE(explanation.chosen);
  EXPECT_THAT(lines(ask("job.train", {}, {"tpu"})),
              ElementsAre("w missing_capability: in pool \"default\": lacks tpu"));
  EXPECT_THAT(ask("job.unknown").pools, IsEmpty());
}

TEST_F(Explain, AnAcceptedHintIsToldAndShapesTheVerdicts) {
  registry_.heartbeat(busy_worker("w1", 0, 10), at(38));
  registry_.heartbeat(busy_worker("w2", 5, 10), at(38));
  Explanation explanation = ask("job.default", {{"preferred_worker_id", "w2"}});
  EXPECT_THAT(explanation.hints, ElementsAre(HintOutcome{"preferred_worker_id", "w2", true, ""}));
  EXPECT_THAT(lines(explanation), ElementsAre("w2 chosen: preferred by the job",
                                              "w1 higher_score: not the preferred worker"));
}

TEST_F(Explain, AStalePreferredWorkerIsNotTaken) {
  registry_.heartbeat(worker("w1"), at(5));
  registry_.heartbeat(busy_worker("w2", 5, 10), at(38));
  Explanation explanation = ask("job.default", {{"preferred_worker_id", "w1"}});
  EXPECT_EQ(explanation.chosen->worker, WorkerId("w2"));
  EXPECT_THAT(explanation.hints,
              ElementsAre(HintOutcome{"preferred_worker_id", "w1", false, "stale"}));
}

TEST_F(Explain, NobodyToTakeTheJobHasTheCodeOfThePick) {
  registry_.heartbeat(worker("dead"), at(5));
  EXPECT_EQ(ask("job.default").code, ReasonCode::kNoWorkers);
  registry_.heartbeat(busy_worker("full", 1, 1), at(38));
  EXPECT_EQ(ask("job.default").code, ReasonCode::kPoolOverloaded);
}

TEST_F(Explain, ListsNoMoreWorkersThanAskedForButCountsThemAll) {
  for (int i = 0; i < 20; ++i) registry_.heartbeat(worker("w" + std::to_string(i)), at(38));
  Explanation explanation = ask("job.default", {}, {}, 3);
  EXPECT_EQ(explanation.workers.size(), 3u);
  EXPECT_EQ(explanation.workers[0].verdict, WorkerVerdict::kChosen);
  EXPECT_EQ(explanation.workers_total, 20u);
  EXPECT_THAT(ask("job.default", {}, {}, 0).workers, IsEmpty());
}

}  // namespace fairlead::routing
