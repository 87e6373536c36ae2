// A look at everything that may keep jobs from running.
#pragma once

#include "cli/call.h"

namespace fairlead::cli {

// One line for each thing looked at, with what to do about it. 0: all is well, 1: something fails.
int doctor(Call& call);

}  // namespace fairlead::cli
