// How many jobs of each topic were completed lately, a second: over the last minute or so.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/time.h"
#include "scheduler/metrics.h"

namespace fairlead::http {

class Rates {
 public:
  // To be called every kRateSampleEvery.
  void sample(const scheduler::Metrics& metrics, MonotonicTime now);

  // 0 before the first sample.
  double completed_per_second(const scheduler::Metrics& metrics, const std::string& topic,
                              MonotonicTime now) const;

 private:
  struct Sample {
    MonotonicTime at;
    std::map<std::string, uint64_t> completed;  // by topic, since the start
  };
  std::deque<Sample> samples_;  // oldest first
};

}  // namespace fairlead::http
