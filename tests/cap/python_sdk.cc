#include "tests/cap/python_sdk.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>

namespace fairlead::cap {
namespace {

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

}  // namespace

std::optional<std::string> sdk_python(const SdkVersion& version) {
  const char* python = std::getenv(version.python_variable);
  if (!python || !*python) return std::nullopt;
  return python;
}

Outcome run_packets(const std::string& python, const std::string& command,
                    const std::filesystem::path& path) {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  const std::filesystem::path script =
      std::filesystem::path(source ? source : ".") / "tests/cap/packets.py";
  const std::string line = quoted(python) + " -B " + quoted(script.string()) + " " + command + " " +
                           quoted(path.string()) + " 2>&1";

  Outcome outcome;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (!pipe) return {.status = -1, .output = "cannot start " + line};
  std::array<char, 4096> buffer;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace fairlead::cap
