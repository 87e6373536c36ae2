#include "job/backoff.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::job {

namespace {

constexpr Duration delay_after(int64_t attempts_before) {
  int64_t exponent = std::clamp<int64_t>(attempts_before, 0, limits::kBackoffExponentMax);
  return std::min(limits::kBackoffBase * (int64_t{1} << exponent), limits::kBackoffMax);
}

// Attempts that the delay grows over; from then on it is kBackoffMax.
constexpr uint32_t kRamp = [] {
  uint32_t attempts = 1;
  while (delay_after(attempts - 1) < limits::kBackoffMax) ++attempts;
  return attempts;
}();
static_assert(kRamp <= limits::kBackoffExponentMax + 1, "the delay reaches its maximum");

// When each attempt of the ramp is made by a job that waits from its beginning with none made.
constexpr std::array<Duration, kRamp + 1> kRampTimes = [] {
  std::array<Duration, kRamp + 1> times{};
  for (uint32_t k = 0; k < kRamp; ++k) times[k + 1] = times[k] + delay_after(int64_t{k} - 1);
  return times;
}();

Duration time_of_attempt(int64_t number) {
  if (number <= kRamp) return kRampTimes[number];
  return kRampTimes[kRamp] + (number - kRamp) * limits::kBackoffMax;
}

}  // namespace

Duration backoff(int64_t attempts_before, Duration jitter) {
  check(jitter >= Duration::zero() && jitter < limits::kBackoffJitterMax,
        "jitter within its range");
  return std::min(delay_after(attempts_before) + jitter, limits::kBackoffMax);
}

uint32_t attempts_after(uint32_t at_start, Duration waited) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  if (waited >= time_of_attempt(kMost) - time_of_attempt(at_start)) return kMost;

  Duration now = time_of_attempt(at_start) + std::max(waited, Duration::zero());
  if (now >= kRampTimes[kRamp]) {
    return static_cast<uint32_t>(kRamp + (now - kRampTimes[kRamp]) / limits::kBackoffMax);
  }
  auto later = std::upper_bound(kRampTimes.begin(), kRampTimes.end(), now);
  return static_cast<uint32_t>(later - kRampTimes.begin() - 1);
}

Duration next_attempt_at(uint32_t at_start, uint32_t attempts) {
  check(attempts >= at_start, "attempts are only ever added");
  return time_of_attempt(int64_t{attempts} + 1) - time_of_attempt(at_start);
}

}  // namespace fairlead::job
