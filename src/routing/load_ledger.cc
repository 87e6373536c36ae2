#include "routing/load_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::routing {

void LoadLedger::heard(int32_t active_jobs) {
  check(active_jobs >= 0, "a worker has no fewer than no jobs");
  ++beats_;
  active_ = active_jobs;
  ended_ = 0;
  ever_active_ |= active_jobs > 0;
  reported_[beats_ % kLong] = active_jobs;

  held_by_age_[kLong] += held_by_age_[kLong - 1];
  std::shift_right(held_by_age_.begin(), held_by_age_.end() - 1, 1);
  held_by_age_[0] = 0;

  int32_t held_long = held_by_age_[kLong];
  int32_t missing = held_long - *std::ranges::max_element(reported_);
  int32_t still_missing = std::min({ghosts_, held_long, held_ - active_jobs});
  ghosts_ = ever_active_ ? std::max({0, missing, still_missing}) : 0;
}

LoadLedger::Beat LoadLedger::hold() {
  ++held_;
  ++held_by_age_[0];
  return beats_;
}

void LoadLedger::release(Beat since) {
  size_t age = age_of(since);
  check(held_by_age_[age] > 0, "only a held job is released");
  --held_;
  --held_by_age_[age];
  if (age > 0) ++ended_;
  ghosts_ = std::min(ghosts_, held_by_age_[kLong]);
}

void LoadLedger::lost() {
  reported_ = unheard();
  active_ = 0;
  ended_ = 0;
  ghosts_ = 0;
}

int32_t LoadLedger::load() const {
  int32_t reported = std::max(0, active_ - ended_) + held_by_age_[0];
  return std::max(held_ - ghosts_, reported);
}

size_t LoadLedger::age_of(Beat since) const {
  check(since <= beats_, "a job is not held since later than now");
  return std::min<uint64_t>(beats_ - since, kLong);
}

}  // namespace fairlead::routing
