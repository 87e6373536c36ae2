// Metrics in Prometheus' text form, version 0.0.4 (MET-1, MET-2).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/metrics.h"

namespace fairlead::metrics {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

// Builds the text. Every sample carries the label pod="<instance>".
class PrometheusText {
 public:
  explicit PrometheusText(std::string_view pod) : pod_(pod) {}

  // Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view type);
  void sample(std::string_view name, const Labels& labels, double value);
  void sample(std::string_view name, const Labels& labels, uint64_t value);

  // Counters and histograms of the scheduler, under their full names.
  void add(const scheduler::Metrics& metrics);

  std::string take() && { return std::move(text_); }

 private:
  void begin_sample(std::string_view name, const Labels& labels);

  std::string pod_;
  std::string text_;
};

}  // namespace fairlead::metrics
