// The published Python SDK in one of its versions, run as a child process.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "tests/cap/sample.h"

namespace fairlead::cap {

struct SdkVersion {
  const char* name;
  const char* python_variable;  // the environment variable that names its interpreter
  Generation generation;
};

inline constexpr SdkVersion kSdkVersions[] = {
    {"2_13_3", "FAIRLEAD_CAP_PYTHON_2_13_3", Generation::kOlder},
    {"2_17_0", "FAIRLEAD_CAP_PYTHON_2_17_0", Generation::kNewest},
};

// For the names of failing tests.
inline std::ostream& operator<<(std::ostream& out, const SdkVersion& version) {
  return out << version.name;
}

struct Outcome {
  int status = 0;
  std::string output;  // standard output and error, as they came
};

// The interpreter with this version installed; nothing when `./dev test` did not prepare one.
std::optional<std::string> sdk_python(const SdkVersion& version);

// Runs `packets.py COMMAND PATH`.
Outcome run_packets(const std::string& python, const std::string& command,
                    const std::filesystem::path& path);

}  // namespace fairlead::cap
