#include "edge/http/rate_limit.h"

#include <algorithm>

#include "edge/http/http_limits.h"

namespace fairlead::http {

void RateLimiter::refill(Bucket& bucket, MonotonicTime now) const {
  std::chrono::duration<double> passed = now - bucket.filled;
  bucket.tokens = std::min(rate_.burst, bucket.tokens + passed.count() * rate_.per_second);
  bucket.filled = now;
}

// A full bucket is the same as none. If none is full, everybody starts anew: to grow without bound
// would be worse.
void RateLimiter::forget_the_quiet(MonotonicTime now) {
  for (auto it = buckets_.begin(); it != buckets_.end();) {
    refill(it->second, now);
    it = it->second.tokens >= rate_.burst ? buckets_.erase(it) : std::next(it);
  }
  if (buckets_.size() >= limits::kHttpRateBucketsMax) buckets_.clear();
}

Duration RateLimiter::take(const std::string& caller, MonotonicTime now) {
  if (rate_.per_second <= 0) return Duration(0);
  auto found = buckets_.find(caller);
  if (found == buckets_.end()) {
    if (buckets_.size() >= limits::kHttpRateBucketsMax) forget_the_quiet(now);
    found = buckets_.emplace(caller, Bucket{rate_.burst, now}).first;
  }
  Bucket& bucket = found->second;
  refill(bucket, now);
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return Duration(0);
  }
  return std::chrono::duration_cast<Duration>(
             std::chrono::duration<double>((1 - bucket.tokens) / rate_.per_second)) +
         Duration(1);
}

}  // namespace fairlead::http
