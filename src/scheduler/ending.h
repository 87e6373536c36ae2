// How a job ends: the one place that makes a terminal change, with the dead letter and the message
// that belong to it (DLQ-1..DLQ-6). State, entry and message are one commit: none can be lost
// without the others.
#pragma once

#include <string>

#include "job/record.h"
#include "store/change.h"

namespace fairlead::scheduler {

struct Ending {
  job::State state = job::State::kFailed;
  job::ReasonCode reason = job::ReasonCode::kNone;
  std::string code;     // shown; empty: the reason's own text
  std::string message;  // for people
  bool dead_letter = true;
  int32_t number = 0;  // of the worker's error; 0: what the code stands for
};

// The change that ends `record`, guarded by its revision. `path` leads to the ending and may begin
// before the record was ever stored.
store::Change ending_change(job::Record record, std::vector<job::State> path, Ending ending,
                            WallTime now);

// Whether a worker may be at the job, which it should be told if the job ends otherwise: the one
// whose slot it holds, or one that was given up, such as a lost one that lives.
bool may_be_with_a_worker(const job::Record& record);

// The CAP status that counts and dead letters show for a state: "JOB_STATUS_FAILED", …
std::string status_name(job::State state);

}  // namespace fairlead::scheduler
