// A worker says how a job ended (RES-*).
#pragma once

#include <string_view>

#include "bus/bus.h"
#include "cordum/agent/v1/job.pb.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

// Whether a result counts, and if not, why.
enum class ResultVerdict {
  kTake,
  kTerminal,       // the job has ended already
  kDuplicate,      // this very message, or an earlier one
  kNotDispatched,  // no worker can have it
  kOldEpoch,
  kWrongWorker,
};
const char* to_string(ResultVerdict verdict);

struct ResultFacts {
  job::BusPlace place;
  bool in_order = true;  // see bus::Delivery
  bool assignee_may_live = true;
};

// A result that names its dispatch must name the current epoch, or one whose publish ended unknown.
// One that does not is matched by its worker, and is old if it was stored before the current epoch
// was dispatched. What was stored when is told by the bus alone: its clock is not ours.
ResultVerdict judge_result(const job::Record& record, const cap::JobResult& result,
                           const ResultFacts& facts);

class Results {
 public:
  Results(Replica& replica, Commits& commits) : replica_(replica), commits_(commits) {}

  // Needs no lease: it commits by revision and epoch.
  Task<bus::Verdict> handle(bus::Delivery delivery);

 private:
  // Its job counts as failed (RES-4).
  void tell_no_ending(const cap::JobResult& result) const;
  Task<bus::Verdict> handle_unknown(const cap::JobResult& result);
  Task<Result<store::Receipt>> commit_result(const job::Record& record,
                                             const cap::JobResult& result,
                                             const bus::Delivery& delivery);
  Task<Result<store::Receipt>> commit_retry(job::Record record, const cap::JobResult& result,
                                            const bus::Delivery& delivery);

  Replica& replica_;
  Commits& commits_;
};

}  // namespace fairlead::scheduler
