// `fairlead up`, `fairlead serve` and `fairlead settings`.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::app {

// Serves until SIGTERM or SIGINT. The status to end with.
int up(std::span<const std::string_view> args);
int serve(std::span<const std::string_view> args);

// Shows what `up` or `serve` would run with, and where each value came from.
int show_settings(std::span<const std::string_view> args);

}  // namespace fairlead::app
