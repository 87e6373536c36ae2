// The shape of one simulated run, drawn from its seed: which faults, how many, how often. Different
// runs fail in different ways, so that no fault hides behind another (swarm testing).
#pragma once

#include <cstdint>

#include "base/time.h"
#include "runtime/random.h"

namespace fairlead::sim {

struct Options {
  int replicas = 2;
  int workers = 3;
  int jobs = 20;
  Duration fault_phase{};

  // One in so many times; 0: never.
  uint64_t store_error = 0;
  uint64_t store_unknown = 0;
  uint64_t store_crash = 0;
  uint64_t bus_refuse = 0;
  uint64_t bus_unknown = 0;
  uint64_t bus_crash = 0;
  uint64_t bus_duplicate = 0;
  uint64_t gate_hang = 0;
  uint64_t worker_silent = 0;  // a job that the worker takes and never answers
  uint64_t worker_lie = 0;
  uint64_t worker_repeat = 0;

  // Events a minute.
  int crashes = 0;
  int pauses = 0;
  int clock_steps = 0;
  int store_clock_steps = 0;
  int worker_deaths = 0;
  int worker_overloads = 0;
  int worker_lags = 0;  // it goes on, and what it says comes late
  int policy_changes = 0;
  int bus_absences = 0;
  int store_failovers = 0;  // to a server that lacks the last writes
  int stream_losses = 0;    // what the stream had not yet forced to its disk

  Duration store_delay_max{};
  Duration bus_delay_max{};
  bool gate_in_process = true;
  bool stream = false;             // dispatches are kept where they can be looked up
  bool workers_name_epoch = true;  // results carry the dispatch identity
  bool bursts = false;             // jobs come all at once
  bool far_clock_steps = false;    // some steps of clocks are of half an hour
  bool long_downtime = false;      // once, no replica runs for more than half an hour
  bool long_bus_absence = false;   // once, there is no bus for longer than a job is tried for
  uint64_t placements = 0;         // different placement labels, which make as many waiting classes
  // Long enough that what faults left undone is seen before the clock ends it, in half the runs.
  Duration dispatch_timeout{};

  static Options draw(Random& random);
};

}  // namespace fairlead::sim
