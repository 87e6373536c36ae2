#include "sim/campaign.h"

#include <string>

#include <fmt/core.h>

#include "base/planted.h"
#include "runtime/clock.h"
#include "sim/world.h"

namespace fairlead::sim {

namespace {

// In so many runs every fault and every transition below must have been seen.
constexpr uint64_t kCoverageRuns = 10'000;

constexpr const char* kFaults[] = {
    "clock stepped",
    "crash after a store call",
    "crash at a publish",
    "crash before a store call",
    "dispatch duplicated",
    "durable message duplicated",
    "job cancelled",
    "job id hijacked",
    "plain message duplicated",
    "policy kernel hangs",
    "publish answer lost",
    "publish refused",
    "replica crashed",
    "replica paused",
    "store answer lost",
    "store error",
    "submit repeated",
    "worker died",
    "worker lies",
    "worker never answers",
    "worker overloaded",
    "worker repeats a result",
};

constexpr const char* kTransitions[] = {
    "none -> PENDING",         "PENDING -> SCHEDULED",    "PENDING -> DENIED",
    "PENDING -> FAILED",       "PENDING -> CANCELLED",    "PENDING -> TIMEOUT",
    "SCHEDULED -> DISPATCHED", "SCHEDULED -> CANCELLED",  "SCHEDULED -> TIMEOUT",
    "SCHEDULED -> SUCCEEDED",  "DISPATCHED -> SCHEDULED", "DISPATCHED -> RUNNING",
    "DISPATCHED -> SUCCEEDED", "DISPATCHED -> FAILED",    "DISPATCHED -> RETRYING",
    "DISPATCHED -> CANCELLED", "DISPATCHED -> DENIED",    "DISPATCHED -> TIMEOUT",
    "RUNNING -> SUCCEEDED",    "RUNNING -> FAILED",       "RUNNING -> RETRYING",
    "RUNNING -> CANCELLED",    "RUNNING -> DENIED",       "RUNNING -> TIMEOUT",
    "RETRYING -> SCHEDULED",   "RETRYING -> CANCELLED",   "RETRYING -> TIMEOUT",
};

void add(Counts& into, const Counts& counts) {
  for (const auto& [name, count] : counts) into[name] += count;
}

template <size_t N>
bool all_seen(const char* what, const char* const (&expected)[N], const Counts& counts) {
  bool all = true;
  for (const char* name : expected) {
    if (counts.contains(name)) continue;
    fmt::print("never seen: {} {}\n", what, name);
    all = false;
  }
  return all;
}

Report run_one(uint64_t seed) {
  return World(seed, {}).run();
}

}  // namespace

int replay(uint64_t seed) {
  World world(seed, [](std::string line) { fmt::print("{}\n", line); });
  Report report = world.run();
  if (report.violation)
    fmt::print("seed {}: VIOLATION: {}\n", seed, *report.violation);
  else
    fmt::print("seed {}: all promises kept\n", seed);
  return report.violation ? 1 : 0;
}

int run_campaign(uint64_t from, uint64_t runs) {
  SystemClock clock;
  MonotonicTime began = clock.monotonic();
  MonotonicTime said = began;
  Counts faults, transitions;
  uint64_t steps = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    uint64_t seed = from + i;
    Report report = run_one(seed);
    if (report.violation) {
      fmt::print("seed {}: VIOLATION: {}\nreplay it with: sim --seed {}\n", seed, *report.violation,
                 seed);
      return 1;
    }
    add(faults, report.faults);
    add(transitions, report.transitions);
    steps += report.steps;
    if (clock.monotonic() - said > std::chrono::seconds(10)) {
      said = clock.monotonic();
      fmt::print(stderr, "{} of {} runs\n", i + 1, runs);
    }
  }
  for (const auto& [name, count] : faults) fmt::print("fault       {:>10}  {}\n", count, name);
  for (const auto& [name, count] : transitions) {
    fmt::print("transition  {:>10}  {}\n", count, name);
  }
  double seconds = std::chrono::duration<double>(clock.monotonic() - began).count();
  fmt::print("{} runs from seed {}, no violation, {:.1f} runs/s, {} steps\n", runs, from,
             static_cast<double>(runs) / seconds, steps);
  if (runs < kCoverageRuns) return 0;
  bool covered = all_seen("fault", kFaults, faults);
  covered = all_seen("transition", kTransitions, transitions) && covered;
  return covered ? 0 : 1;
}

int run_planted() {
  bool all_caught = true;
  for (PlantedBug bug : kPlantedBugs) {
    planted_bug = bug;
    bool caught = false;
    for (uint64_t seed = 1; seed <= kPlantedSeedsMax && !caught; ++seed) {
      Report report = run_one(seed);
      if (!report.violation) continue;
      caught = true;
      fmt::print("{}: caught by seed {}: {}\n", to_string(bug), seed, *report.violation);
    }
    if (!caught) {
      fmt::print("{}: NOT caught in {} seeds\n", to_string(bug), kPlantedSeedsMax);
      all_caught = false;
    }
  }
  planted_bug = PlantedBug::kNone;
  return all_caught ? 0 : 1;
}

}  // namespace fairlead::sim
