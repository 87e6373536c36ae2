// Somebody wants a job to stop (CAN-*). Durable, and wins over a dispatch by revision.
#pragma once

#include <optional>
#include <string>

#include "bus/bus.h"
#include "runtime/task.h"
#include "scheduler/commits.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

// Why a job is cancelled, where nobody says (CAN-3).
inline constexpr const char* kCancelledByRequest = "cancelled by request";

class Cancel {
 public:
  Cancel(Replica& replica, Commits& commits) : replica_(replica), commits_(commits) {}

  Task<bus::Verdict> handle(bus::Delivery delivery);

  // Ends the job, whatever it does. True when this call ended it; false when it had ended before.
  // An unknown job is kNotFound. `told`: its worker knows by now, or will without us.
  Task<Result<bool>> cancel(JobId job, std::string reason, std::optional<Sequence> consumed,
                            bool told);

 private:
  Replica& replica_;
  Commits& commits_;
};

}  // namespace fairlead::scheduler
