// What was built: version, commit and its date.
#pragma once

#include <string>

namespace fairlead {

struct Build {
  std::string version = "dev";
  std::string commit = "unknown";
  std::string date = "unknown";
};

}  // namespace fairlead
