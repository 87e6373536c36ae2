// Placements and events in words.
#pragma once

#include <string>

#include "cli/call.h"

namespace fairlead::cli {

// Which worker, or why none, and what spoke against each of the others.
std::string placement_text(const json::value& placement);

// One line of a stream; as the server sent it, or for people.
std::string event_line(const Event& event, bool as_json);

}  // namespace fairlead::cli
