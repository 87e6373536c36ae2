// A line that a program wrote to descriptor 3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::worker {

struct ProgressLine {
  int percent = 0;
  std::string message;
  std::string step;
};

// "40", "40 reading", "40% reading", "reading", or {"percent": 40, "message": …, "step": …}.
// Nothing for a blank line. What is not UTF-8 is made so.
std::optional<ProgressLine> parse_progress(std::string_view line);

// Bytes that are not UTF-8 become '?', so that they can be told in a packet.
std::string as_utf8(std::string_view bytes);

}  // namespace fairlead::worker
