// How often a caller may call: a bucket of tokens for each, filled at a steady rate.
#pragma once

#include <string>
#include <unordered_map>

#include "base/time.h"

namespace fairlead::http {

struct Rate {
  double per_second = 0;  // 0: unlimited
  double burst = 0;
};

class RateLimiter {
 public:
  explicit RateLimiter(Rate rate) : rate_(rate) {}

  // Takes one token. When there is none: how long until there will be one.
  Duration take(const std::string& caller, MonotonicTime now);

  size_t callers() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens = 0;
    MonotonicTime filled;
  };

  void refill(Bucket& bucket, MonotonicTime now) const;
  void forget_the_quiet(MonotonicTime now);

  Rate rate_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace fairlead::http
