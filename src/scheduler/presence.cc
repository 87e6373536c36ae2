#include "scheduler/presence.h"

namespace fairlead::scheduler {

Task<void> Presence::keep_noting(Loop& loop,
                                 std::function<std::optional<MonotonicTime>()> listening) {
  do {
    const std::optional<MonotonicTime> since = listening();
    if (!since) continue;
    MonotonicTime now = clock_.monotonic();
    if (is_deaf(now)) listens_since_ = now;
    listens_since_ = std::max(listens_since_, now - (loop.now() - *since));
    noted_at_ = now;
  } while (co_await loop.delay(limits::kNoteEvery));
}

bool Presence::is_young() const {
  MonotonicTime now = clock_.monotonic();
  return is_deaf(now) || now - listens_since_ < limits::kWorkerTtl;
}

void Presence::expect(const WorkerId& worker) {
  expected_.try_emplace(worker, clock_.monotonic() + limits::kWorkerTtl);
}

bool Presence::may_live(const WorkerId& worker) const {
  return is_young() || expected_.contains(worker) ||
         registry_.heard_lately(worker, clock_.monotonic());
}

std::vector<WorkerId> Presence::take_gone() {
  MonotonicTime now = clock_.monotonic();
  std::vector<WorkerId> gone = registry_.sweep(now);
  if (is_young()) {
    for (const WorkerId& worker : gone) expect(worker);
    return {};
  }
  for (auto it = expected_.begin(); it != expected_.end();) {
    if (it->second >= now) {
      ++it;
      continue;
    }
    gone.push_back(it->first);
    it = expected_.erase(it);
  }
  return gone;
}

}  // namespace fairlead::scheduler
