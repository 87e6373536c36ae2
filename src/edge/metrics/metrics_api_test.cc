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
  EXPECT_TRUE(has("cordum_bus_unmarshal_failure_total{subject=\"sys.job.submit\",reason="));
  EXPECT_TRUE(has("cordum_scheduler_policy_constraints_serialise_failed_total 0\n"));
  EXPECT_TRUE(has("cordum_scheduler_validation_rejections_total{pod=\"pod-1\"} 0\n"));
  EXPECT_FALSE(has("scheduler_scheduler")) << "the prefix is not doubled";
  for (size_t i = 0; i < scheduler::kCounters; ++i) {
    EXPECT_TRUE(has(scheduler::Metrics::info(static_cast<Counter>(i)).name));
  }
}

TEST(PrometheusText, HistogramsAddUp) {
  scheduler::Metrics metrics;
  metrics.observe(Histogram::kDispatchLatency, std::chrono::milliseconds(7), "job.a");
  metrics.observe(Histogram::kDispatchLatency, std::chrono::seconds(60), "job.a");
  PrometheusText text("p");
  text.add(metrics);
  std::string all = std::move(text).take();
  auto has = [&](std::string_view line) { return all.find(line) != std::string::npos; };
  const std::string name = "cordum_scheduler_dispatch_latency_seconds";
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",topic=\"job.a\",le=\"0.005\"} 0\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",topic=\"job.a\",le=\"0.01\"} 1\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",topic=\"job.a\",le=\"10\"} 1\n"));
  EXPECT_TRUE(has(name + "_bucket{pod=\"p\",topic=\"job.a\",le=\"+Inf\"} 2\n"));
  EXPECT_TRUE(has(name + "_count{pod=\"p\",topic=\"job.a\"} 2\n"));
  EXPECT_TRUE(has("cordum_scheduler_job_lock_wait_seconds_count{pod=\"p\"} 0\n"));
  EXPECT_TRUE(has(name + "_sum{pod=\"p\",topic=\"job.a\"} 60.007"));
}

TEST(PrometheusText, LabelValuesFromOutsideStayWithinTheirQuotes) {
  PrometheusText text("p");
  text.sample("m", {{"l", "a\"b\\c\nd"}}, uint64_t{1});
  EXPECT_EQ(std::move(text).take(), "m{pod=\"p\",l=\"a\\\"b\\\\c\\nd\"} 1\n");
}

class MetricsApi : public scheduler::ReplicaTest {
 protected:
  static scheduler::Settings settings() {
    scheduler::Settings settings;
    settings.instance = "node-7";
    return settings;
  }
  http::Reply get(const char* path) {
    http::ReadTools tools{random_, clock_};
    http::Request request;
    request.path = path;
    EXPECT_TRUE(api_.is_public(path));
    auto planned = api_.plan(request, tools);
    return planned ? run(planned->call(backend_)) : std::move(planned.error());
  }
  static std::string body_of(http::Reply reply) {
    return reply.render ? reply.render() : reply.body;
  }

  scheduler::Scheduler scheduler_{plugs(gate_), settings(), pools()};
  http::PoolBook book_{loop_, store_, pools(), [](auto) {}};
  http::Backend backend_{loop_, clock_,     random_, store_,  bus_,
                         log_,  scheduler_, book_,   Build{}, clock_.monotonic()};
  http::Api api_{metrics_routes()};
};

TEST_F(MetricsApi, TellsCountersGaugesAndWorkers) {
  http::Reply reply = get("/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.content_type.starts_with("text/plain; version=0.0.4"));
  EXPECT_NE(reply.body.find("cordum_scheduler_active_goroutines{pod=\"node-7\"} 0"),
            std::string::npos);
  EXPECT_NE(reply.body.find("cordum_scheduler_jobs{pod=\"node-7\",state=\"PENDING\"} 0"),
            std::string::npos);
  EXPECT_NE(reply.body.find("cordum_scheduler_workers{pod=\"node-7\"} 0"), std::string::npos);
  http::ReadTools tools{random_, clock_};
  http::Request request;
  request.path = "/other";
  EXPECT_EQ(api_.plan(request, tools).error().status, 404);
}

TEST_F(MetricsApi, AnswersTheProbesOfAScheduler) {
  for (const char* path : {"/health", "/readyz", "/healthz", "/livez"}) {
    EXPECT_EQ(get(path).status, 200) << path;
  }
  EXPECT_EQ(body_of(get("/readyz")),
            R"({"status":"ok","redis":{"ok":true,"status":"ok"},"nats":{"ok":true,"status":"ok"},)"
            R"("safety":{"ok":true,"status":"none"}})");
}

// There is a connection, and yet nothing can be done.
TEST_F(MetricsApi, IsNotReadyWhenAServerTakesNothing) {
  http::Servers servers{.embedded = false};
  backend_.servers = [&servers] { return servers; };
  EXPECT_EQ(get("/readyz").status, 200);
  servers.redis_problem = "READONLY You can't write against a read only replica.";
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_NE(body_of(get("/health")).find("READONLY"), std::string::npos);
  EXPECT_EQ(get("/livez").status, 200) << "it lives";
  servers.redis_problem.clear();
  servers.nats_problem = "sys.job.dlq: no stream listens to it";
  EXPECT_EQ(get("/readyz").status, 503);
  servers.nats_problem.clear();
  servers.safety_problem = "safety kernel circuit open";
  EXPECT_EQ(get("/readyz").status, 200) << "that is told of, no more";
  EXPECT_NE(body_of(get("/readyz")).find("circuit open"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::metrics
