// `top`: the server on a screen.
#pragma once

#include <map>
#include <string>

#include "cli/call.h"

namespace fairlead::cli {

// One picture of what the server says; rates are against the picture before.
class TopScreen {
 public:
  std::string draw(const json::value& status, const json::value& queues, const json::value& workers,
                   MonotonicTime now);

 private:
  struct Seen {
    double received = 0;
    double completed = 0;
  };
  std::map<std::string, Seen> before_;
  MonotonicTime drawn_{};
};

int top(Call& call);

}  // namespace fairlead::cli
