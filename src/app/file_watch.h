// Notices that a file was edited, or put in the place of another: it looks once a second, which
// works on every file system and needs no descriptor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/loop.h"
#include "runtime/task.h"

namespace fairlead::app {

inline constexpr Duration kFileLookEvery = std::chrono::seconds(1);

// Which files are under the names, and when they were changed; "" when one is missing.
std::string files_mark(const std::vector<std::string>& paths);

// Runs `changed` after every change of the files since `mark`, until it is cancelled. While one is
// missing, nothing has changed: editors take it away for a moment.
Task<void> watch_files(Loop& loop, std::vector<std::string> paths, std::string mark,
                       std::function<Task<void>()> changed);

}  // namespace fairlead::app
