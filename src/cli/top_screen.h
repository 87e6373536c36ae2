// `top`: the server on a screen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/call.h"

namespace fairlead::cli {

// One picture of what the server says; rates are against the picture before. What it does not say,
// as of a topic's totals to a key that sees one tenant, is "-".
class TopScreen {
 public:
  std::string draw(const json::value& status, const json::value& queues, const json::value& workers,
                   MonotonicTime now);

 private:
  struct Seen {
    std::optional<double> received;
    std::optional<double> completed;
  };
  std::map<std::string, Seen> before_;
  MonotonicTime drawn_{};
};

// The first so many lines, and of each the first so many characters, for a terminal: they are
// written over those of the picture before, whole.
std::string fitted(std::string_view text, size_t rows, size_t columns);

int top(Call& call);

}  // namespace fairlead::cli
