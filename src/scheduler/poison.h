// What to do with a message that cannot be handled (BUS-4, BUS-5): its trace is kept as a dead
// letter, of which the bus is told, and only then it is ended.
#pragma once

#include <string>

#include "bus/bus.h"
#include "job/reason.h"
#include "runtime/task.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

// Of a packet that cannot be read: it is tried again a few times, for it may have been cut on the
// way, and then buried and terminated.
Task<bus::Verdict> poison(Replica& replica, const bus::Delivery& delivery, const Error& error);

// Of a message that the store did not take. It is tried again, for as long as it takes; but where
// the store finds senseless what it has of the job, only a few times: then as above.
Task<bus::Verdict> not_stored(Replica& replica, const bus::Delivery& delivery, Error error);

// Keeps a dead letter of a message that is about to be given up: under the id of the job that it
// names, unless there is such a job or a dead letter of it. Anybody can name one.
Task<Result<void>> bury(Replica& replica, const bus::Delivery& delivery, std::string reason);

// Keeps a dead letter of a job that is not known, unless there is one.
Task<Result<void>> keep_first(Replica& replica, store::DeadLetter entry);

}  // namespace fairlead::scheduler
