// A dispatch that is committed goes to the bus, once, under its lease; what the bus says is the
// next commit.
//
//   publish ─► stored: RUNNING, without the mark
//           ─► refused: SCHEDULED again; another worker is tried at once, if there is one. A
//           repeat,
//              whose worker may have the epoch before, stays as if unknown, a few times
//           ─► never possible: FAILED
//           ─► unknown: the mark stays, and a sweep resolves it
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "routing/route.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/replica.h"
#include "scheduler/walker.h"

namespace fairlead::scheduler {

class HandOver {
 public:
  // Told of a job that is due again at once.
  using Again = std::function<void(const job::Record& job)>;

  HandOver(Replica& replica, LeaseKeeper& leases, Commits& commits, Again again)
      : replica_(replica), leases_(leases), commits_(commits), again_(std::move(again)) {}

  Task<void> publish(WalkerPtr walker, store::Snapshot record, std::string subject,
                     std::shared_ptr<const routing::Route> route);
  // The dispatch is known to be published.
  Task<void> commit_running(std::string token, store::Snapshot record);

 private:
  Task<void> roll_back(std::string token, store::Snapshot record,
                       std::shared_ptr<const routing::Route> route);
  bool worker_may_have(const job::Record& record) const;
  // Of a dispatch whose publish ended unknown: the job may have ended meanwhile.
  Task<void> look_for_end(store::Snapshot dispatched);
  // Tells the worker of a dispatch to stop, if the job is over and the worker does not know it.
  Task<void> tell_if_over(const job::Record& dispatched, const job::Record& now);
  Task<void> give_up(std::string token, store::Snapshot record, Error error);
  store::Change running_change(const job::Record& record, const std::string& lease);
  store::Change rollback_change(const job::Record& record, const std::string& lease,
                                Duration pause);

  Replica& replica_;
  LeaseKeeper& leases_;
  Commits& commits_;
  Again again_;
};

}  // namespace fairlead::scheduler
