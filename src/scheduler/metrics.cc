#include "scheduler/metrics.h"

#include <algorithm>

#include "base/limits.h"

namespace fairlead::scheduler {

namespace {

constexpr std::array<Metrics::Info, kCounters> kInfo = {{
    {"jobs_received_total", {"topic"}},
    {"jobs_dispatched_total", {"topic"}},
    {"jobs_completed_total", {"topic", "status"}},
    {"safety_denied_total", {"topic"}},
    {"safety_unavailable_total", {"topic"}},
    {"input_fail_open_total", {"topic"}},
    {"dispatch_rollback_total", {"topic"}},
    {"dispatch_rollback_failures_total", {"topic"}},
    {"dispatch_retry_total", {"topic", "phase"}},
    {"stale_worker_retry_total", {"topic", "worker"}},
    {"hint_used_total", {"hint"}},
    {"hint_rejected_total", {"hint", "cause"}},
    {"orphan_replayed_total", {"topic"}},
    {"validation_rejections_total", {}},
    {"resubmit_conflicts_total", {}},
    {"idempotency_duplicates_total", {}},
    {"job_cancel_failures_total", {}},
    {"dlq_emit_failures_total", {"topic"}},
    {"job_lock_abandoned_total", {}},
    {"results_ignored_total", {"cause"}},
    {"unknown_job_results_total", {}},
    {"transitions_refused_total", {}},
    {"unmarshal_failure_total", {"subject", "reason"}},
    {"heartbeats_refused_total", {}},
    {"workers_lost_total", {}},
}};

constexpr std::string_view kOther = "other";

}  // namespace

Metrics::Metrics() {
  histograms_[static_cast<size_t>(Histogram::kDispatchLatency)].bounds = {
      .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  histograms_[static_cast<size_t>(Histogram::kJobLockWait)].bounds = {.001, .005, .01, .025, .05,
                                                                      .1,   .25,  .5,  1};
  for (Distribution& distribution : histograms_) {
    distribution.buckets.resize(distribution.bounds.size() + 1);
  }
}

void Metrics::add(Counter counter, std::string_view first, std::string_view second) {
  std::vector<Series>& all = counters_[static_cast<size_t>(counter)];
  auto same = [&](const Series& series) {
    return series.values[0] == first && series.values[1] == second;
  };
  auto found = std::ranges::find_if(all, same);
  if (found == all.end()) {
    if (all.size() >= limits::kMetricLabelValuesMax) {
      first = kOther;
      second = second.empty() ? second : kOther;
      found = std::ranges::find_if(all, same);
    }
    if (found == all.end()) {
      all.push_back({{std::string(first), std::string(second)}, 0});
      found = std::prev(all.end());
    }
  }
  ++found->count;
}

void Metrics::observe(Histogram histogram, Duration duration) {
  if (duration < Duration(0)) return;
  Distribution& distribution = histograms_[static_cast<size_t>(histogram)];
  double seconds = std::chrono::duration<double>(duration).count();
  size_t bucket = static_cast<size_t>(std::ranges::lower_bound(distribution.bounds, seconds) -
                                      distribution.bounds.begin());
  ++distribution.buckets[bucket];
  ++distribution.count;
  distribution.sum += seconds;
}

const Metrics::Info& Metrics::info(Counter counter) {
  return kInfo[static_cast<size_t>(counter)];
}

std::string_view Metrics::name(Histogram histogram) {
  switch (histogram) {
    case Histogram::kDispatchLatency:
      return "dispatch_latency_seconds";
    case Histogram::kJobLockWait:
      return "job_lock_wait_seconds";
  }
  return {};
}

const std::vector<Metrics::Series>& Metrics::series(Counter counter) const {
  return counters_[static_cast<size_t>(counter)];
}

const Metrics::Distribution& Metrics::distribution(Histogram histogram) const {
  return histograms_[static_cast<size_t>(histogram)];
}

uint64_t Metrics::value(Counter counter, std::string_view first, std::string_view second) const {
  uint64_t sum = 0;
  for (const Series& series : this->series(counter)) {
    if (!first.empty() && series.values[0] != first) continue;
    if (!second.empty() && series.values[1] != second) continue;
    sum += series.count;
  }
  return sum;
}

}  // namespace fairlead::scheduler
