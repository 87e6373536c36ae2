#include "edge/http/api/rates.h"

#include "edge/http/http_limits.h"

namespace fairlead::http {

using scheduler::Counter;

void Rates::sample(const scheduler::Metrics& metrics, MonotonicTime now) {
  while (!samples_.empty() && now - samples_.front().at >= limits::kRateWindow) {
    samples_.pop_front();
  }
  Sample& sample = samples_.emplace_back();
  sample.at = now;
  for (const scheduler::Metrics::Series& series : metrics.series(Counter::kJobsCompleted)) {
    sample.completed[series.values[0]] += series.count;
  }
}

double Rates::completed_per_second(const scheduler::Metrics& metrics, const std::string& topic,
                                   MonotonicTime now) const {
  if (samples_.empty() || now <= samples_.front().at) return 0;
  const Sample& oldest = samples_.front();
  auto found = oldest.completed.find(topic);
  uint64_t before = found == oldest.completed.end() ? 0 : found->second;
  double seconds = std::chrono::duration<double>(now - oldest.at).count();
  return static_cast<double>(metrics.value(Counter::kJobsCompleted, topic) - before) / seconds;
}

}  // namespace fairlead::http
