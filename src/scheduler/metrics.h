// What the scheduler counts (MET-1..MET-3). Values of some labels come from outside, so their
// number is bounded: what comes after kMetricLabelValuesMax series of a metric is counted as
// "other".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
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
  kResultPtrWriteFailures,
  kConstraintsSerialiseFailed,
  kDispatchFlush,   // pool
  kResultsIgnored,  // cause
  kUnknownJobResults,
  kTransitionsRefused,
  kUnmarshalFailures,  // subject, reason
  kMessagesProcessedBefore,
  kHeartbeatsRefused,
  kWorkersLost,
};
inline constexpr size_t kCounters = static_cast<size_t>(Counter::kWorkersLost) + 1;

enum class Histogram {
  kDispatchLatency,  // topic
  kJobLockWait,
  kHeartbeatLag,  // between two heartbeats of a worker
};
inline constexpr size_t kHistograms = static_cast<size_t>(Histogram::kHeartbeatLag) + 1;

enum class Gauge {
  kStaleJobs,    // state: those that the last sweep found out for too long
  kClockOffset,  // milliseconds between the machine's clock and that of Redis
};
inline constexpr size_t kGauges = static_cast<size_t>(Gauge::kClockOffset) + 1;

inline constexpr std::string_view kOtherLabel = "other";

class Metrics {
 public:
  struct Info {
    std::string_view name;  // without the prefix cordum_scheduler_
    std::array<std::string_view, 2> labels;
    bool names_pod = true;  // MET-2
  };
  struct Series {
    std::array<std::string, 2> values;
    uint64_t count = 0;
  };
  struct Distribution {
    std::string label;              // its value; "" for a histogram without labels
    std::vector<uint64_t> buckets;  // one more than bounds
    uint64_t count = 0;
    double sum = 0;
  };

  Metrics();

  void add(Counter counter, std::string_view first = {}, std::string_view second = {});
  // A negative duration is not observed.
  void observe(Histogram histogram, Duration duration, std::string_view label = {});
  void set(Gauge gauge, std::string_view label, uint64_t value);

  static const Info& info(Counter counter);
  static const Info& info(Histogram histogram);
  static const Info& info(Gauge gauge);
  // Upper bounds of its buckets, in seconds.
  static std::span<const double> bounds(Histogram histogram);
  const std::vector<Series>& series(Counter counter) const;
  const std::vector<Series>& series(Gauge gauge) const;
  // A histogram without labels always has its one.
  const std::vector<Distribution>& distributions(Histogram histogram) const;

  // The sum over all series whose labels begin with those given.
  uint64_t value(Counter counter, std::string_view first = {}, std::string_view second = {}) const;

 private:
  std::array<std::vector<Series>, kCounters> counters_;
  std::array<std::vector<Distribution>, kHistograms> histograms_;
  std::array<std::vector<Series>, kGauges> gauges_;
};

}  // namespace fairlead::scheduler
