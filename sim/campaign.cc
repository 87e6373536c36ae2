#include "sim/campaign.h"

#include <algorithm>
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
    "acknowledgement lost",
    "all replicas down",
    "bus away",
    "bus away for long",
    "clock stepped",
    "clock stepped far",
    "crash after a store call",
    "crash at a dispatch",
    "crash at another publish",
    "crash before a store call",
    "dispatch duplicated",
    "durable message duplicated",
    "end of the stream lost",
    "job cancelled",
    "job id hijacked",
    "key shared",
    "plain message duplicated",
    "policy changes its mind",
    "policy kernel hangs",
    "publish answer lost",
    "publish refused",
    "replica crashed",
    "repeat not stored",
    "replica paused",
    "store answer lost",
    "store error",
    "store failed over",
    "store's clock stepped",
    "submit repeated",
    "worker died",
    "worker lags",
    "worker lies",
    "worker never answers",
    "worker overloaded",
    "worker repeats a result",
};

// All that the code can walk today. The table allows more: output that is quarantined.
constexpr const char* kTransitions[] = {
    "none -> PENDING",
    "PENDING -> APPROVAL_REQUIRED",
    "PENDING -> SCHEDULED",
    "PENDING -> DENIED",
    "PENDING -> FAILED",
    "PENDING -> TIMEOUT",
    "PENDING -> CANCELLED",
    "APPROVAL_REQUIRED -> PENDING",
    "APPROVAL_REQUIRED -> DENIED",
    "APPROVAL_REQUIRED -> FAILED",
    "APPROVAL_REQUIRED -> TIMEOUT",
    "APPROVAL_REQUIRED -> SUCCEEDED",
    "APPROVAL_REQUIRED -> CANCELLED",
    "SCHEDULED -> APPROVAL_REQUIRED",
    "SCHEDULED -> DISPATCHED",
    "SCHEDULED -> DENIED",
    "SCHEDULED -> FAILED",
    "SCHEDULED -> TIMEOUT",
    "SCHEDULED -> SUCCEEDED",
    "SCHEDULED -> CANCELLED",
    "SCHEDULED -> RETRYING",
    "DISPATCHED -> SCHEDULED",
    "DISPATCHED -> RUNNING",
    "DISPATCHED -> DENIED",
    "DISPATCHED -> FAILED",
    "DISPATCHED -> TIMEOUT",
    "DISPATCHED -> SUCCEEDED",
    "DISPATCHED -> CANCELLED",
    "DISPATCHED -> RETRYING",
    "RUNNING -> RUNNING",
    "RUNNING -> DENIED",
    "RUNNING -> FAILED",
    "RUNNING -> TIMEOUT",
    "RUNNING -> SUCCEEDED",
    "RUNNING -> CANCELLED",
    "RUNNING -> RETRYING",
    "RETRYING -> APPROVAL_REQUIRED",
    "RETRYING -> SCHEDULED",
    "RETRYING -> DENIED",
    "RETRYING -> FAILED",
    "RETRYING -> TIMEOUT",
    "RETRYING -> SUCCEEDED",
    "RETRYING -> CANCELLED",
    "RETRYING -> RETRYING",
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

// A list that does not name all there is could not tell what was never seen.
template <size_t N>
bool none_unlisted(const char* what, const char* const (&expected)[N], const Counts& counts) {
  bool all = true;
  for (const auto& [name, count] : counts) {
    if (std::ranges::find(expected, name) != std::end(expected)) continue;
    fmt::print("not in the list of what must be seen: {} {}\n", what, name);
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
  bool covered = none_unlisted("fault", kFaults, faults);
  covered = none_unlisted("transition", kTransitions, transitions) && covered;
  if (runs < kCoverageRuns) return covered ? 0 : 1;
  covered = all_seen("fault", kFaults, faults) && covered;
  covered = all_seen("transition", kTransitions, transitions) && covered;
  return covered ? 0 : 1;
}

namespace {

// Runs seeds with the bug until one is caught by a seed that is clean without it.
bool catch_planted(PlantedBug bug) {
  for (uint64_t seed = 1; seed <= kPlantedSeedsMax; ++seed) {
    planted_bug = bug;
    Report report = run_one(seed);
    planted_bug = PlantedBug::kNone;
    if (!report.violation) continue;
    if (Report clean = run_one(seed); clean.violation) {
      fmt::print("seed {} violates without any bug: {}\n", seed, *clean.violation);
      return false;
    }
    fmt::print("{}: caught by seed {}: {}\n", to_string(bug), seed, *report.violation);
    return true;
  }
  fmt::print("{}: NOT caught in {} seeds\n", to_string(bug), kPlantedSeedsMax);
  return false;
}

}  // namespace

int run_planted() {
  bool all_caught = true;
  for (PlantedBug bug : kPlantedBugs) all_caught = catch_planted(bug) && all_caught;
  return all_caught ? 0 : 1;
}

}  // namespace fairlead::sim
