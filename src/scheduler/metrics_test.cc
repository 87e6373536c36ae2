#include "scheduler/metrics.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "scheduler/go_duration.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

TEST(Metrics, CountsByLabels) {
  Metrics metrics;
  metrics.add(Counter::kJobsReceived, "a");
  metrics.add(Counter::kJobsReceived, "a");
  metrics.add(Counter::kJobsReceived, "b");
  EXPECT_EQ(metrics.value(Counter::kJobsReceived, "a"), 2u);
  EXPECT_EQ(metrics.value(Counter::kJobsReceived), 3u);
}

TEST(Metrics, H29_LabelValuesFromOutsideAreBounded) {
  Metrics metrics;
  for (int i = 0; i < 10'000; ++i) {
    metrics.add(Counter::kStaleWorkerRetry, "topic", "worker-" + std::to_string(i));
  }
  EXPECT_LE(metrics.series(Counter::kStaleWorkerRetry).size(), limits::kMetricLabelValuesMax + 1);
  EXPECT_EQ(metrics.value(Counter::kStaleWorkerRetry), 10'000u);
  EXPECT_EQ(metrics.value(Counter::kStaleWorkerRetry, "other"),
            10'000u - limits::kMetricLabelValuesMax);
}

TEST(Metrics, H103_BeyondTheBoundTheTopicIsOtherAndTheStatusStays) {
  Metrics metrics;
  for (int i = 0; i < 1000; ++i) {
    std::string topic = "job." + std::to_string(i);
    metrics.add(Counter::kJobsCompleted, topic, "JOB_STATUS_SUCCEEDED");
    metrics.add(Counter::kJobsCompleted, topic, "JOB_STATUS_FAILED");
    metrics.observe(Histogram::kDispatchLatency, 1ms, topic);
  }
  EXPECT_EQ(metrics.value(Counter::kJobsCompleted, {}, "JOB_STATUS_FAILED"), 1000u);
  EXPECT_LE(metrics.series(Counter::kJobsCompleted).size(), limits::kMetricLabelValuesMax + 2);
  const auto& latency = metrics.distributions(Histogram::kDispatchLatency);
  ASSERT_EQ(latency.size(), limits::kMetricLabelValuesMax + 1);
  EXPECT_EQ(latency.back().label, "other");
  EXPECT_EQ(latency.back().count, 1000u - limits::kMetricLabelValuesMax);
}

TEST(Metrics, ANegativeDurationIsNotObserved) {
  Metrics metrics;
  metrics.observe(Histogram::kDispatchLatency, -1us, "job.default");
  EXPECT_TRUE(metrics.distributions(Histogram::kDispatchLatency).empty());
}

TEST(Metrics, ADurationFallsIntoTheBucketOfItsUpperBound) {
  Metrics metrics;
  metrics.observe(Histogram::kJobLockWait, 1ms);
  metrics.observe(Histogram::kJobLockWait, 1001us);
  metrics.observe(Histogram::kJobLockWait, 2s);
  const auto& distribution = metrics.distributions(Histogram::kJobLockWait).at(0);
  EXPECT_EQ(distribution.buckets[0], 1u);
  EXPECT_EQ(distribution.buckets[1], 1u);
  EXPECT_EQ(distribution.buckets.back(), 1u);
}

TEST(GoDuration, ReadsAsInGo) {
  EXPECT_EQ(go_duration(30s), "30s");
  EXPECT_EQ(go_duration(300s), "5m0s");
  EXPECT_EQ(go_duration(2h + 3s), "2h0m3s");
}

}  // namespace
}  // namespace fairlead::scheduler
