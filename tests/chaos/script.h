// What goes wrong in a round, and when: drawn from a seed, so that a round can be played again.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/random.h"

namespace fairlead::chaos {

using Millis = std::chrono::milliseconds;

enum class FaultKind {
  kKill,       // SIGKILL; started again at the end of the fault
  kStop,       // SIGSTOP, and SIGCONT at its end
  kTerminate,  // SIGTERM; started again at its end
  kCut,        // nothing passes between two of them
};

struct Fault {
  FaultKind kind = FaultKind::kKill;
  std::string node;
  std::string other{};  // of a cut, its far end
  Millis at{};          // since the round began
  Millis lasts{};

  // As "replica-1 killed" or "replica-2 cut off from redis".
  std::string text() const;
};

// Those to whom something may happen.
struct Cast {
  std::vector<std::string> replicas;
  std::vector<std::string> workers;
  bool nats = true;
  bool redis = true;

  static constexpr const char* kNats = "nats";
  static constexpr const char* kRedis = "redis";
};

// Faults that begin within `length`, one to three at a time, never two at the same node; by order
// of their beginning. REQUIRES: the cast is not empty.
std::vector<Fault> draw_round(Random& random, const Cast& cast, Millis length);

}  // namespace fairlead::chaos
