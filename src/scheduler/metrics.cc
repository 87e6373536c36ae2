#include "scheduler/metrics.h"

#include <algorithm>

#include "base/limits.h"

namespace fairlead::scheduler {

namespace {

constexpr std::array<Metrics::Info, kCounters> kCounterInfo = {{
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
    {"result_ptr_write_failure_total", {}},
    {"policy_constraints_serialise_failed_total", {}, false},
    {"dispatch_flush_on_worker_online_total", {"pool"}},
    {"results_ignored_total", {"cause"}},
    {"unknown_job_results_total", {}},
    {"transitions_refused_total", {}},
    {"unmarshal_failure_total", {"subject", "reason"}, false},
    {"messages_processed_before_total", {}},
    {"heartbeats_refused_total", {}},
    {"workers_lost_total", {}},
}};

constexpr std::array<Metrics::Info, kHistograms> kHistogramInfo = {{
    {"dispatch_latency_seconds", {"topic"}},
    {"job_lock_wait_seconds", {}},
    {"heartbeat_lag_seconds", {}},
}};

constexpr std::array<Metrics::Info, kGauges> kGaugeInfo = {{
    {"stale_jobs", {"state"}},
    {"clock_offset_milliseconds", {}},
}};

// Prometheus' own; those of the lock as they always were; and around the TTL of a worker.
constexpr double kDefaultBounds[] = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
constexpr double kLockBounds[] = {.001, .005, .01, .025, .05, .1, .25, .5, 1};
constexpr double kLagBounds[] = {.5, 1, 2, 4, 6, 8, 10, 15, 20, 25, 30};

// Values of the other labels are ours, and few.
bool comes_from_outside(std::string_view label) {
  return label == "topic" || label == "worker" || label == "pool";
}

}  // namespace

Metrics::Metrics() {
  for (size_t i = 0; i < kHistograms; ++i) {
    if (!kHistogramInfo[i].labels[0].empty()) continue;
    histograms_[i].push_back({{}, std::vector<uint64_t>(bounds(Histogram(i)).size() + 1)});
  }
}

void Metrics::add(Counter counter, std::string_view first, std::string_view second) {
  std::vector<Series>& all = counters_[static_cast<size_t>(counter)];
  auto same = [&](const Series& series) {
    return series.values[0] == first && series.values[1] == second;
  };
  auto found = std::ranges::find_if(all, same);
  if (found == all.end() && all.size() >= limits::kMetricLabelValuesMax) {
    const Info& names = info(counter);
    if (comes_from_outside(names.labels[0])) first = kOtherLabel;
    if (comes_from_outside(names.labels[1])) second = kOtherLabel;
    found = std::ranges::find_if(all, same);
  }
  if (found == all.end()) {
    all.push_back({{std::string(first), std::string(second)}, 0});
    found = std::prev(all.end());
  }
  ++found->count;
}

void Metrics::observe(Histogram histogram, Duration duration, std::string_view label) {
  if (duration < Duration(0)) return;
  std::vector<Distribution>& all = histograms_[static_cast<size_t>(histogram)];
  auto found = std::ranges::find(all, label, &Distribution::label);
  if (found == all.end() && all.size() >= limits::kMetricLabelValuesMax) {
    label = kOtherLabel;
    found = std::ranges::find(all, label, &Distribution::label);
  }
  if (found == all.end()) {
    all.push_back({std::string(label), std::vector<uint64_t>(bounds(histogram).size() + 1)});
    found = std::prev(all.end());
  }
  double seconds = std::chrono::duration<double>(duration).count();
  std::span<const double> limits = bounds(histogram);
  ++found->buckets[static_cast<size_t>(std::ranges::lower_bound(limits, seconds) - limits.begin())];
  ++found->count;
  found->sum += seconds;
}

void Metrics::set(Gauge gauge, std::string_view label, uint64_t value) {
  std::vector<Series>& all = gauges_[static_cast<size_t>(gauge)];
  auto found =
      std::ranges::find_if(all, [&](const Series& series) { return series.values[0] == label; });
  if (found == all.end()) {
    all.push_back({{std::string(label), {}}, 0});
    found = std::prev(all.end());
  }
  found->count = value;
}

const Metrics::Info& Metrics::info(Counter counter) {
  return kCounterInfo[static_cast<size_t>(counter)];
}

const Metrics::Info& Metrics::info(Histogram histogram) {
  return kHistogramInfo[static_cast<size_t>(histogram)];
}

const Metrics::Info& Metrics::info(Gauge gauge) {
  return kGaugeInfo[static_cast<size_t>(gauge)];
}

std::span<const double> Metrics::bounds(Histogram histogram) {
  switch (histogram) {
    case Histogram::kDispatchLatency:
      return kDefaultBounds;
    case Histogram::kJobLockWait:
      return kLockBounds;
    case Histogram::kHeartbeatLag:
      return kLagBounds;
  }
  return {};
}

const std::vector<Metrics::Series>& Metrics::series(Counter counter) const {
  return counters_[static_cast<size_t>(counter)];
}

const std::vector<Metrics::Series>& Metrics::series(Gauge gauge) const {
  return gauges_[static_cast<size_t>(gauge)];
}

const std::vector<Metrics::Distribution>& Metrics::distributions(Histogram histogram) const {
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
