// The first sign from a worker that it works on a job.
//
// RUNNING says that a job was handed over; whether its worker ever began is known when the worker
// tells of its progress, and is kept in the record and its history (H-34). Where the hand-over
// itself is in doubt, the sign settles it.
#pragma once

#include "bus/bus.h"
#include "cordum/agent/v1/job.pb.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

class Progress {
 public:
  Progress(Replica& replica, Commits& commits) : replica_(replica), commits_(commits) {}

  // Needs no lease: it commits by revision.
  Task<bus::Verdict> handle(bus::Delivery delivery);

 private:
  store::Change sign_change(const job::Record& record);

  Replica& replica_;
  Commits& commits_;
};

// Whether `progress`, sent by `worker`, is the first sign of the record's current dispatch.
bool is_first_sign(const job::Record& record, const cap::JobProgress& progress,
                   const WorkerId& worker);

}  // namespace fairlead::scheduler
