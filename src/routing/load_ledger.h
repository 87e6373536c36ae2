// How many jobs one worker has, from what it reports and from what was handed to it.
//
//   heartbeat      heartbeat      heartbeat      heartbeat (now)
//   ----|--------------|--------------|--------------|-------->
//    held for 3+    held for 2     held for 1     held for 0: no report can have counted it yet
//
// Its load is the greater of
//   - the jobs held there, without the ghosts, and
//   - the jobs last reported, without those of them that ended since, with those held since.
//
// Ghosts are jobs that the worker no longer has, though nobody said how they ended: it restarted
// under its old id. They are jobs held through kGhostHeartbeats heartbeats in a row, each of which
// reported fewer jobs than those; the difference are ghosts. They stay ghosts for as long as the
// reports leave room for that. A worker that never reported any job does not count its jobs, and
// is not believed.
//
// Every call is O(1).
#pragma once

#include <array>
#include <cstdint>

#include "base/limits.h"

namespace fairlead::routing {

class LoadLedger {
 public:
  // The number of heartbeats that had come when a job was handed over.
  using Beat = uint64_t;

  // A heartbeat came. REQUIRES: active_jobs >= 0.
  void heard(int32_t active_jobs);
  // A job is handed over. Keep the answer for `release`.
  [[nodiscard]] Beat hold();
  // REQUIRES: `since` is what `hold` answered, not released yet.
  void release(Beat since);
  // A job that others had handed over ended: the last report may have counted it.
  void ended_elsewhere() { ++ended_; }
  // The worker fell silent: its heartbeats in a row end here, and its last report counts no more.
  void lost();

  int32_t held() const { return held_; }
  int32_t ghosts() const { return ghosts_; }
  int32_t load() const;

 private:
  static constexpr int kLong = limits::kGhostHeartbeats;
  using Reports = std::array<int32_t, kLong>;

  static constexpr Reports unheard() {
    Reports none;
    none.fill(INT32_MAX);
    return none;
  }
  size_t age_of(Beat since) const;

  Beat beats_ = 0;
  int32_t held_ = 0;
  int32_t ghosts_ = 0;
  // Of the last report; how many of those ended since.
  int32_t active_ = 0;
  int32_t ended_ = 0;
  bool ever_active_ = false;
  // Held jobs by the heartbeats they were held through; the last counts kLong and more.
  std::array<int32_t, kLong + 1> held_by_age_{};
  // The last reports in a ring; where none came yet in this row, more than any would say.
  Reports reported_ = unheard();
};

}  // namespace fairlead::routing
