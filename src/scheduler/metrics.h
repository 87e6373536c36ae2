// What the scheduler counts. Label values come from outside, so their number is bounded: what
// comes after kMetricLabelValuesMax of them is counted as "other".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace fairlead::scheduler {

enum class Counter {
  kJobsReceived,              // topic
  kJobsDispatched,            // topic
  kJobsCompleted,             // topic, status
  kSafetyDenied,              // topic
  kSafetyUnavailable,         // topic
  kInputFailOpen,             // topic
  kDispatchRollback,          // topic
  kDispatchRollbackFailures,  // topic
  kDispatchRetry,             // topic, phase
  kStaleWorkerRetry,          // topic, worker
  kHintUsed,                  // hint
  kHintRejected,              // hint, cause
  kOrphanReplayed,            // topic
  kValidationRejections,
  kResubmitConflicts,
  kIdempotencyDuplicates,
  kJobCancelFailures,
  kDlqEmitFailures,  // topic
  kJobLockAbandoned,
  kResultsIgnored,  // cause
  kUnknownJobResults,
  kTransitionsRefused,
  kUnmarshalFailures,  // subject, reason
  kHeartbeatsRefused,
  kWorkersLost,
};
inline constexpr size_t kCounters = static_cast<size_t>(Counter::kWorkersLost) + 1;

enum class Histogram { kDispatchLatency, kJobLockWait };
inline constexpr size_t kHistograms = static_cast<size_t>(Histogram::kJobLockWait) + 1;

class Metrics {
 public:
  struct Info {
    std::string_view name;  // without the prefix cordum_scheduler_
    std::array<std::string_view, 2> labels;
  };
  struct Series {
    std::array<std::string, 2> values;
    uint64_t count = 0;
  };
  struct Distribution {
    std::vector<double> bounds;     // upper bounds in seconds
    std::vector<uint64_t> buckets;  // one more than bounds
    uint64_t count = 0;
    double sum = 0;
  };

  Metrics();

  void add(Counter counter, std::string_view first = {}, std::string_view second = {});
  // A negative duration is not observed.
  void observe(Histogram histogram, Duration duration);

  static const Info& info(Counter counter);
  static std::string_view name(Histogram histogram);
  const std::vector<Series>& series(Counter counter) const;
  const Distribution& distribution(Histogram histogram) const;

  // The sum over all series whose labels begin with those given.
  uint64_t value(Counter counter, std::string_view first = {}, std::string_view second = {}) const;

 private:
  std::array<std::vector<Series>, kCounters> counters_;
  std::array<Distribution, kHistograms> histograms_;
};

}  // namespace fairlead::scheduler
