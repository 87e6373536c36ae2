// Judges a round: what was promised and not kept. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/chaos/evidence.h"

namespace fairlead::chaos {

struct Stall {
  double seconds = 0;
  std::string job;
  std::string where;   // "on its way to a worker", "with its result stored"
  std::string faults;  // that overlap it
};

struct Judgement {
  // Each names its jobs. Kinds: lost, stuck, an epoch handed out twice, run again without a fault,
  // ended badly, never arrived, stood still, one key for two jobs, left over.
  std::vector<std::string> violations;
  size_t jobs = 0;
  size_t succeeded = 0;
  size_t timed_out = 0;
  size_t deliveries = 0;
  size_t run_again = 0;       // jobs that workers got in more than one epoch
  size_t sent_to_nobody = 0;  // jobs whose worker did not listen when it was sent
  Stall longest;
};

struct Promises {
  // A job moves again within so long of the end of the last fault.
  double stall_seconds_max = 15;
  // False: a result that is sent while nobody listens is lost, and its job times out.
  bool results_are_kept = true;
};

Judgement judge(const Evidence& evidence, const Promises& promises = {});

}  // namespace fairlead::chaos
