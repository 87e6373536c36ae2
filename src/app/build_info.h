// What was built: version, commit and its date.
#pragma once

#include "edge/http/api/backend.h"

namespace fairlead::app {

http::Build build_info();

}  // namespace fairlead::app
