// How long a job waits between attempts: min(base * 2^n + jitter, max), n clamped to 0..10.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fairlead::job {

// The wait after a failed attempt, with `attempts_before` made before it.
// REQUIRES: `jitter` in [0, kBackoffJitterMax); the caller draws it.
Duration backoff(int64_t attempts_before, Duration jitter);

// A waiting job is not written each time it would have tried: how often it did, and when it will
// next, follow from when it began to wait. Without jitter, attempt k + 1 comes backoff(k - 1)
// after attempt k. `at_start` counts the failed attempt that made it wait: a job with 1 made tries
// again 1 s, 3 s, 7 s, 15 s, 31 s, 61 s, … after it began.

// Attempts made in all, once it has waited for `waited`. In constant time.
uint32_t attempts_after(uint32_t at_start, Duration waited);

// How long after the beginning of the wait attempt number `attempts` + 1 falls due. In constant
// time. REQUIRES: attempts >= at_start.
Duration next_attempt_at(uint32_t at_start, uint32_t attempts);

}  // namespace fairlead::job
