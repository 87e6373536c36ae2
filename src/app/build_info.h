// What this program was built from.
#pragma once

#include "base/build.h"

namespace fairlead::app {

Build build_info();

}  // namespace fairlead::app
