#include "edge/metrics/prometheus_text.h"

#include <span>

#include <fmt/core.h>

namespace fairlead::metrics {

namespace {

using scheduler::Counter;
using scheduler::Gauge;
using scheduler::Histogram;
using scheduler::Metrics;

constexpr std::string_view kPrefix = "cordum_scheduler_";

std::string full_name(std::string_view prefix, const Metrics::Info& info) {
  return std::string(prefix) + std::string(info.name);
}

void append_escaped(std::string& out, std::string_view value) {
  for (char c : value) {
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

}  // namespace

void PrometheusText::metric(std::string_view name, std::string_view type, bool names_pod) {
  names_pod_ = names_pod;
  text_ += fmt::format("# TYPE {} {}\n", name, type);
}

void PrometheusText::begin_sample(std::string_view name, const Labels& labels) {
  text_ += name;
  char before = '{';
  auto add_label = [&](std::string_view label, std::string_view value) {
    text_ += std::exchange(before, ',');
    text_ += label;
    text_ += "=\"";
    append_escaped(text_, value);
    text_ += '"';
  };
  if (names_pod_) add_label("pod", pod_);
  for (const auto& [label, value] : labels) add_label(label, value);
  if (before == ',') text_ += '}';
  text_ += ' ';
}

void PrometheusText::sample(std::string_view name, const Labels& labels, double value) {
  begin_sample(name, labels);
  text_ += fmt::format("{}\n", value);
}

void PrometheusText::sample(std::string_view name, const Labels& labels, uint64_t value) {
  begin_sample(name, labels);
  text_ += fmt::format("{}\n", value);
}

void PrometheusText::add(const Metrics& metrics) {
  for (size_t i = 0; i < scheduler::kCounters; ++i) add_counter(Counter(i), metrics);
  for (size_t i = 0; i < scheduler::kHistograms; ++i) add_histogram(Histogram(i), metrics);
  for (size_t i = 0; i < scheduler::kGauges; ++i) {
    const Metrics::Info& info = Metrics::info(Gauge(i));
    std::string name = full_name(kPrefix, info);
    metric(name, "gauge", info.names_pod);
    add_series(name, info, metrics.series(Gauge(i)));
  }
}

void PrometheusText::add_counter(Counter counter, const Metrics& metrics) {
  const Metrics::Info& info = Metrics::info(counter);
  // The bus has its own prefix for what it could not read.
  std::string name =
      full_name(counter == Counter::kUnmarshalFailures ? "cordum_bus_" : kPrefix, info);
  metric(name, "counter", info.names_pod);
  // A counter without labels is there from the start, so that a rate can be made of it.
  if (info.labels[0].empty()) {
    sample(name, {}, metrics.value(counter));
  } else {
    add_series(name, info, metrics.series(counter));
  }
}

void PrometheusText::add_series(std::string_view name, const Metrics::Info& info,
                                const std::vector<Metrics::Series>& all) {
  for (const Metrics::Series& series : all) {
    Labels labels;
    for (size_t i = 0; i < info.labels.size(); ++i) {
      if (!info.labels[i].empty()) labels.emplace_back(info.labels[i], series.values[i]);
    }
    sample(name, labels, series.count);
  }
}

void PrometheusText::add_histogram(Histogram histogram, const Metrics& metrics) {
  const Metrics::Info& info = Metrics::info(histogram);
  std::string name = full_name(kPrefix, info);
  metric(name, "histogram", info.names_pod);
  std::span<const double> bounds = Metrics::bounds(histogram);
  for (const Metrics::Distribution& distribution : metrics.distributions(histogram)) {
    Labels labels;
    if (!info.labels[0].empty()) labels.emplace_back(info.labels[0], distribution.label);
    auto add_bucket = [&](std::string_view bound, uint64_t below) {
      labels.emplace_back("le", bound);
      sample(name + "_bucket", labels, below);
      labels.pop_back();
    };
    uint64_t below = 0;
    for (size_t bucket = 0; bucket < bounds.size(); ++bucket) {
      below += distribution.buckets[bucket];
      add_bucket(fmt::format("{}", bounds[bucket]), below);
    }
    add_bucket("+Inf", distribution.count);
    sample(name + "_sum", labels, distribution.sum);
    sample(name + "_count", labels, distribution.count);
  }
}

}  // namespace fairlead::metrics
