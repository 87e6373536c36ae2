#include "edge/metrics/metrics_api.h"

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "edge/http/api/api.h"
#include "edge/metrics/prometheus_text.h"
#include "gate/topic_gate.h"
#include "scheduler/replica_fixture.h"
#include "store/memory/memory_store.h"

namespace fairlead::metrics {
namespace {

using scheduler::Counter;
using scheduler::Histogram;

TEST(PrometheusText, TellsEveryCounterUnderOnePrefixWithThePod) {
  scheduler::Metrics metrics;
  metrics.add(Counter::kJobsCompleted, "job.a", "JOB_STATUS_FAILED");
  metrics.add(Counter::kJobsCompleted, "job.a", "JOB_STATUS_FAILED");
  metrics.add(Counter::kUnmarshalFailures, "sys.job.submit", "invalid");
  PrometheusText text("pod-1");
  text.add(metrics);
  std::string all = std::move(text).take();
  auto has = [&](std::string_view line) { return all.find(line) != std::string::npos; };
  EXPECT_TRUE(has("# TYPE cordum_scheduler_jobs_completed_total counter\n"));
  EXPECT_TRUE(
      has("cordum_scheduler_jobs_completed_total{pod=\"pod-1\",topic=\"job.a\",status="
          "\"JOB_STATUS_FAILED\"} 2\n"));
  EXPECT_TRUE(has("cordum_bus_unmarshal_failure_total{pod=\"pod-1\",subject=\"sys.job.submit\""));
  EXPECT_TRUE(has("cordum_scheduler_validation_rejections_total{pod=\"pod-1\"} 0\n"));
  EXPECT_FALSE(has("scheduler_scheduler")) << "the prefix is not doubled";
  for (size_t i = 0; i < scheduler::kCounters; ++i) {
    EXPECT_TRUE(has(scheduler::Metrics::info(static_cast<Counter>(i)).name));
  }
}

TEST(PrometheusText, HistogramsAddUp) {
  scheduler::Metrics metrics;
  metrics.observe(Histogram::kDispatchLatency, std::chrono::milliseconds(7));
  metrics.observe(Histogram::kDispatchLatency, std::chrono::seconds(60));
  PrometheusText text("p");
  text.add(metrics);
  std::string all = std::move(text).take();
  auto has = [&](std::string_view line) { return all.find(line) != std::string::npos; };
  const std::string name = "cordum_scheduler_dispatch_latency_seconds";
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",le=\"0.005\"} 0\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",le=\"0.01\"} 1\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",le=\"10\"} 1\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",le=\"+Inf\"} 2\n"));
  EXPECT_TRUE(has(name + "_count{pod=\"p\"} 2\n"));
  EXPECT_TRUE(has(name + "_sum{pod=\"p\"} 60.007"));
}

TEST(PrometheusText, LabelValuesFromOutsideStayWithinTheirQuotes) {
  PrometheusText text("p");
  text.sample("m", {{"l", "a\"b\\c\nd"}}, uint64_t{1});
  EXPECT_EQ(std::move(text).take(), "m{pod=\"p\",l=\"a\\\"b\\\\c\\nd\"} 1\n");
}

class MetricsApi : public scheduler::ReplicaTest {};

TEST_F(MetricsApi, TheListenersOneRouteTellsCountersGaugesAndWorkers) {
  scheduler::Settings settings;
  settings.instance = "node-7";
  scheduler::Scheduler scheduler(plugs(gate_), settings, pools());
  http::PoolBook book(loop_, store_, pools(), [](auto) {});
  http::Backend backend{loop_, clock_,    random_, store_,        bus_,
                        log_,  scheduler, book,    http::Build{}, clock_.monotonic()};
  http::Api api(metrics_routes());
  http::ReadTools tools{random_, clock_};
  http::Request request;
  request.path = "/metrics";
  EXPECT_TRUE(api.is_public("/metrics"));
  auto planned = api.plan(request, tools);
  ASSERT_TRUE(planned.has_value());
  http::Reply reply = run(planned->call(backend));
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.content_type.starts_with("text/plain; version=0.0.4"));
  EXPECT_NE(reply.body.find("cordum_scheduler_active_goroutines{pod=\"node-7\"} 0"),
            std::string::npos);
  EXPECT_NE(reply.body.find("cordum_scheduler_jobs{pod=\"node-7\",state=\"PENDING\"} 0"),
            std::string::npos);
  EXPECT_NE(reply.body.find("cordum_scheduler_workers{pod=\"node-7\"} 0"), std::string::npos);
  request.path = "/other";
  EXPECT_EQ(api.plan(request, tools).error().status, 404);
}

}  // namespace
}  // namespace fairlead::metrics
