// Placements and events in words.
#pragma once

#include <string>

#include "cli/call.h"

namespace fairlead::cli {

// Where a job would go now, or why nowhere, and what speaks against each of the others.
std::string placement_text(const json::value& placement);

// One line of a stream; as the server sent it, or for people.
std::string event_line(const Event& event, bool as_json);

}  // namespace fairlead::cli
