#include "routing/snapshot.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace fairlead::routing {
namespace {

namespace json = boost::json;

constexpr WallTime kMoment = wall_time_from_micros(1'767'323'045'900'000);

class SnapshotTest : public testing::Test {
 protected:
  void join(const std::string& id, const std::string& pool, int32_t active, int32_t capacity) {
    WorkerReport report;
    report.id = WorkerId(id);
    report.pool = PoolName(pool);
    report.active_jobs = active;
    report.max_parallel_jobs = capacity;
    report.capabilities = {"python"};
    report.cpu_load = 12.5;
    report.region = "eu";
    report.type = "gpu";
    report.labels = {{"node.zone", "a"}};
    registry_.heartbeat(report, now_);
  }
  std::string text() const { return snapshot_json(registry_, pools_, now_, kMoment, "s-1"); }

  WorkerRegistry registry_;
  PoolMap pools_ = *parse_pool_map(R"(
topics: {job.a: [p, q], job.b: q}
pools: {p: {}, q: {}}
)");
  MonotonicTime now_{std::chrono::seconds(100)};
};

TEST_F(SnapshotTest, HasPoolsTopicsAndWorkers) {
  join("w1", "p", 2, 4);
  join("w2", "p", 1, 0);
  EXPECT_EQ(json::parse(text()), json::parse(R"({
    "captured_at": "2026-01-02T03:04:05Z", "writer_id": "s-1",
    "pools": {"p": {"workers": 2, "active_jobs": 3, "capacity": 4}},
    "topics": {"job.a": {"pool": "p", "workers": 2, "capacity": 4, "available": true},
               "job.b": {"pool": "q", "workers": 0, "capacity": 0, "available": false}},
    "workers": [
      {"worker_id": "w1", "pool": "p", "active_jobs": 2, "max_parallel_jobs": 4,
       "capabilities": ["python"], "cpu_load": 12.5, "gpu_utilization": 0.0, "memory_load": 0.0,
       "region": "eu", "type": "gpu", "labels": {"node.zone": "a"}},
      {"worker_id": "w2", "pool": "p", "active_jobs": 1, "max_parallel_jobs": 0,
       "capabilities": ["python"], "cpu_load": 12.5, "gpu_utilization": 0.0, "memory_load": 0.0,
       "region": "eu", "type": "gpu", "labels": {"node.zone": "a"}}]})"));
}

TEST_F(SnapshotTest, LeavesOutWhatIsEmptyAndWhoIsNotAlive) {
  join("w1", "p", 0, 1);
  now_ += std::chrono::seconds(31);
  EXPECT_EQ(json::parse(text()).as_object().if_contains("workers"), nullptr);
  EXPECT_EQ(json::parse(text()).as_object().if_contains("pools"), nullptr);
}

TEST_F(SnapshotTest, IsReadBackWithItsLabels_H91) {
  join("w1", "p", 2, 4);
  auto snapshot = parse_snapshot(text());
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->captured_at, wall_time_from_micros(1'767'323'045'000'000));
  ASSERT_EQ(snapshot->workers.size(), 1u);
  const WorkerReport& report = snapshot->workers[0];
  EXPECT_EQ(report.id.str(), "w1");
  EXPECT_EQ(report.pool.str(), "p");
  EXPECT_EQ(report.active_jobs, 2);
  EXPECT_EQ(report.max_parallel_jobs, 4);
  EXPECT_EQ(report.cpu_load, 12.5);
  EXPECT_EQ(report.capabilities, std::vector<std::string>{"python"});
  EXPECT_EQ(report.labels, (Labels{{"node.zone", "a"}}));
  EXPECT_EQ(report.region, "eu");
  EXPECT_EQ(report.type, "gpu");
}

TEST_F(SnapshotTest, WorkersWithoutAnIdAreLeftOut) {
  auto snapshot = parse_snapshot(
      R"({"captured_at":"2026-01-02T03:04:05Z","workers":[{"pool":"p"},7,{"worker_id":"w"}]})");
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->workers.size(), 1u);
  EXPECT_EQ(snapshot->workers[0].id.str(), "w");
}

TEST_F(SnapshotTest, NumbersOutOfRangeCountAsNone) {
  auto snapshot = parse_snapshot(R"({"captured_at":"2026-01-02T03:04:05Z",
    "workers":[{"worker_id":"w","active_jobs":-1,"max_parallel_jobs":1e300}]})");
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->workers[0].active_jobs, 0);
  EXPECT_EQ(snapshot->workers[0].max_parallel_jobs, 0);
}

TEST_F(SnapshotTest, WhatIsNoSnapshotIsRefused) {
  for (const char* text : {"", "[]", "{", "{}", R"({"captured_at":"yesterday"})"}) {
    EXPECT_FALSE(parse_snapshot(text)) << text;
  }
}

}  // namespace
}  // namespace fairlead::routing
