#include "edge/metrics/prometheus_text.h"

#include <fmt/core.h>

namespace fairlead::metrics {

namespace {

using scheduler::Counter;
using scheduler::Histogram;
using scheduler::Metrics;

// The bus has its own prefix for what it could not read.
std::string full_name(Counter counter) {
  const char* prefix = counter == Counter::kUnmarshalFailures ? "cordum_bus_" : "cordum_scheduler_";
  return prefix + std::string(Metrics::info(counter).name);
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

void PrometheusText::metric(std::string_view name, std::string_view type) {
  text_ += fmt::format("# TYPE {} {}\n", name, type);
}

void PrometheusText::begin_sample(std::string_view name, const Labels& labels) {
  text_ += name;
  text_ += "{pod=\"";
  append_escaped(text_, pod_);
  text_ += '"';
  for (const auto& [label, value] : labels) {
    text_ += fmt::format(",{}=\"", label);
    append_escaped(text_, value);
    text_ += '"';
  }
  text_ += "} ";
}

void PrometheusText::sample(std::string_view name, const Labels& labels, double value) {
  begin_sample(name, labels);
  text_ += fmt::format("{}\n", value);
}

void PrometheusText::sample(std::string_view name, const Labels& labels, uint64_t value) {
  begin_sample(name, labels);
  text_ += fmt::format("{}\n", value);
}

void PrometheusText::add(const scheduler::Metrics& metrics) {
  for (size_t i = 0; i < scheduler::kCounters; ++i) {
    auto counter = static_cast<Counter>(i);
    std::string name = full_name(counter);
    const Metrics::Info& info = Metrics::info(counter);
    metric(name, "counter");
    // A counter without labels is there from the start, so that a rate can be made of it.
    if (info.labels[0].empty()) {
      sample(name, {}, metrics.value(counter));
      continue;
    }
    for (const Metrics::Series& series : metrics.series(counter)) {
      Labels labels;
      for (size_t label = 0; label < info.labels.size(); ++label) {
        if (!info.labels[label].empty())
          labels.emplace_back(info.labels[label], series.values[label]);
      }
      sample(name, labels, series.count);
    }
  }
  for (size_t i = 0; i < scheduler::kHistograms; ++i) {
    auto histogram = static_cast<Histogram>(i);
    const Metrics::Distribution& distribution = metrics.distribution(histogram);
    std::string name = "cordum_scheduler_" + std::string(Metrics::name(histogram));
    metric(name, "histogram");
    uint64_t below = 0;
    for (size_t bucket = 0; bucket < distribution.bounds.size(); ++bucket) {
      below += distribution.buckets[bucket];
      std::string bound = fmt::format("{}", distribution.bounds[bucket]);
      sample(name + "_bucket", {{"le", bound}}, below);
    }
    sample(name + "_bucket", {{"le", "+Inf"}}, distribution.count);
    sample(name + "_sum", {}, distribution.sum);
    sample(name + "_count", {}, distribution.count);
  }
}

}  // namespace fairlead::metrics
