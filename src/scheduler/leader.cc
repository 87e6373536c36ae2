#include "scheduler/leader.h"

#include <utility>

#include "base/limits.h"

namespace fairlead::scheduler {

Task<bool> Leader::leads() {
  if (replica_.settings.alone) co_return true;
  const MonotonicTime now = replica_.clock.monotonic();
  if (now < next_try_) co_return leads_;
  next_try_ = now + limits::kLeaderTryEvery;
  if (leads_ && now < confirmed_ + limits::kLeaderTtl / 3) co_return true;
  Result<bool> taken = co_await replica_.store.acquire(key_, {token_, limits::kLeaderTtl});
  if (taken) {
    leads_ = *taken;
    confirmed_ = now;
  } else {
    // While the store says nothing it is ours for as long as it was given to us.
    leads_ = leads_ && now < confirmed_ + limits::kLeaderTtl;
  }
  co_return leads_;
}

Task<void> Leader::resign() {
  if (!std::exchange(leads_, false)) co_return;
  next_try_ = replica_.clock.monotonic() + 2 * limits::kLeaderTryEvery;
  (void)co_await replica_.store.release(key_, token_);
}

}  // namespace fairlead::scheduler
