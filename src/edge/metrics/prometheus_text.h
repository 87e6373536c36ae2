// Metrics in Prometheus' text form, version 0.0.4 (MET-1, MET-2).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/metrics.h"

namespace fairlead::metrics {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

// Builds the text. Samples carry the label pod="<instance>" unless their metric says otherwise.
class PrometheusText {
 public:
  explicit PrometheusText(std::string_view pod) : pod_(pod) {}

  // Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view type, bool names_pod = true);
  void sample(std::string_view name, const Labels& labels, double value);
  void sample(std::string_view name, const Labels& labels, uint64_t value);

  // What the scheduler counts, under full names.
  void add(const scheduler::Metrics& metrics);

  std::string take() && { return std::move(text_); }

 private:
  void begin_sample(std::string_view name, const Labels& labels);
  void add_counter(scheduler::Counter counter, const scheduler::Metrics& metrics);
  void add_histogram(scheduler::Histogram histogram, const scheduler::Metrics& metrics);
  void add_series(std::string_view name, const scheduler::Metrics::Info& info,
                  const std::vector<scheduler::Metrics::Series>& all);

  std::string pod_;
  bool names_pod_ = true;
  std::string text_;
};

}  // namespace fairlead::metrics
