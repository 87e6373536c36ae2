// `fairlead worker`.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::worker {

// What stands behind the word "worker". Runs until a signal ends it. 0: drained, or help was
// shown; 1: killed; 2: the words are wrong, or there is no such command.
int run(std::span<const std::string_view> args);

}  // namespace fairlead::worker
