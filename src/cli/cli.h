// The verbs that talk to a server.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::cli {

// `program` is the name under which the program was called, without its folder: as `cordumctl` it
// has that tool's verbs, flags, environment and exit codes. `args` is what stands behind it.
// Answers what the program exits with.
int run(std::string_view program, std::span<const std::string_view> args);

}  // namespace fairlead::cli
