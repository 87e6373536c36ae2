// `top`: the server on a screen.
#pragma once

#include <map>
#include <optional>
#include <string>

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

int top(Call& call);

}  // namespace fairlead::cli
