// The verbs that talk to a server.
#pragma once

#include <span>
#include <string_view>

#include "base/build.h"
#include "cli/dialect.h"

namespace fairlead::cli {

// `program` is the name under which the program was called, without its folder: as `cordumctl` it
// has that tool's verbs, flags, environment and exit codes. `args` is what stands behind it.
// `build` is what `version` tells; `own` are verbs that the program has itself: they are shown and
// completed. Answers what the program exits with.
int run(std::string_view program, std::span<const std::string_view> args, const Build& build,
        std::vector<Verb> own = {});

}  // namespace fairlead::cli
