#include "edge/metrics/metrics_api.h"

#include "edge/metrics/prometheus_text.h"

namespace fairlead::metrics {

namespace {

void add_jobs(PrometheusText& text, const http::Backend& backend) {
  text.metric("cordum_scheduler_jobs", "gauge");
  for (job::State state : job::kAllStates) {
    if (job::is_terminal(state)) continue;
    text.sample("cordum_scheduler_jobs", {{"state", job::to_string(state)}},
                uint64_t{backend.store.jobs_in(state)});
  }
}

// By worker up to the number of label values that a metric may have; the rest by its oldest.
void add_workers(PrometheusText& text, const http::Backend& backend) {
  const routing::WorkerRegistry& registry = backend.scheduler.registry();
  text.metric("cordum_scheduler_workers", "gauge");
  text.sample("cordum_scheduler_workers", {}, uint64_t{registry.size()});
  text.metric("cordum_scheduler_worker_heartbeat_age_seconds", "gauge", false);
  MonotonicTime now = backend.clock.monotonic();
  size_t shown = 0;
  std::optional<double> others;
  registry.visit([&](const routing::WorkerView& worker) {
    double age = std::chrono::duration<double>(now - worker.last_seen).count();
    if (shown++ < limits::kMetricLabelValuesMax) {
      text.sample("cordum_scheduler_worker_heartbeat_age_seconds",
                  {{"worker_id", worker.report.id.str()}}, age);
    } else {
      others = std::max(others.value_or(0), age);
    }
  });
  if (others) {
    text.sample("cordum_scheduler_worker_heartbeat_age_seconds", {{"worker_id", "other"}}, *others);
  }
}

Task<http::Reply> scrape(http::Backend& backend) {
  http::Reply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  reply.body = metrics_text(backend);
  co_return reply;
}

std::expected<http::Call, http::Reply> read_scrape(http::Request&, http::ReadTools&) {
  return [](http::Backend& backend) { return scrape(backend); };
}

}  // namespace

std::string metrics_text(const http::Backend& backend) {
  std::string_view name = backend.scheduler.name();
  PrometheusText text(name.substr(0, name.rfind('.')));
  text.add(backend.scheduler.metrics());
  text.metric("cordum_scheduler_active_goroutines", "gauge");
  text.sample("cordum_scheduler_active_goroutines", {}, uint64_t{backend.scheduler.in_hand()});
  add_jobs(text, backend);
  add_workers(text, backend);
  return std::move(text).take();
}

http::Routes metrics_routes() {
  http::Routes routes = http::scheduler_probes();
  routes.push_back(
      {http::Method::kGet,
       "/metrics",
       http::Access::kPublic,
       read_scrape,
       {.operation = "metrics", .summary = "Prometheus metrics", .answer = "text/plain"}});
  return routes;
}

}  // namespace fairlead::metrics
