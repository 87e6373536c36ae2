// The verbs that the program has beside those that talk to a server, for help and completion.
#pragma once

#include <vector>

#include "cli/dialect.h"

namespace fairlead::app {

std::vector<cli::Verb> own_verbs();

}  // namespace fairlead::app
