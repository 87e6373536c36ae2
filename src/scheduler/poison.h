// What to do with a packet that cannot be read (BUS-4, BUS-5): try again a few times, for it may
// have been cut on the way; then keep it as a dead letter, and only then end it.
#pragma once

#include "bus/bus.h"
#include "runtime/task.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

Task<bus::Verdict> poison(Replica& replica, const bus::Delivery& delivery, const Error& error);

}  // namespace fairlead::scheduler
