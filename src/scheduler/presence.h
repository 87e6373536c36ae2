// Which workers are there, as far as one can tell who must have listened to hear them.
//
// A worker is gone when it was not heard for a TTL in which this replica listened. One that has
// only just begun to listen, or was stopped or had no bus for a while and does not know what it
// missed, calls nobody gone: workers may live that it has not heard.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/limits.h"
#include "routing/registry.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/task.h"

namespace fairlead::scheduler {

class Presence {
 public:
  Presence(const Clock& clock, routing::WorkerRegistry& registry)
      : clock_(clock),
        registry_(registry),
        listens_since_(clock.monotonic()),
        noted_at_(listens_since_) {}

  // Runs for as long as the replica lives: notes that it listens, while it does.
  // `listening` tells since when there is a bus, by the loop's time.
  Task<void> keep_noting(Loop& loop, std::function<std::optional<MonotonicTime>()> listening);

  // It has not listened for a TTL yet.
  bool is_young() const;

  // A worker that jobs are out with was not heard yet: it is given a TTL to appear.
  void expect(const WorkerId& worker);
  void heard(const WorkerId& worker) { expected_.erase(worker); }

  // Whether the worker may live, as far as this replica can tell.
  bool may_live(const WorkerId& worker) const;

  // The registry forgets whom it has not heard for a TTL. Names those of them, and of the expected,
  // that are gone.
  std::vector<WorkerId> take_gone();

 private:
  // It has not noted that it listens for too long.
  bool is_deaf(MonotonicTime now) const { return now - noted_at_ > limits::kDeafAfter; }

  const Clock& clock_;
  routing::WorkerRegistry& registry_;
  MonotonicTime listens_since_;
  MonotonicTime noted_at_;
  std::map<WorkerId, MonotonicTime> expected_;
};

}  // namespace fairlead::scheduler
