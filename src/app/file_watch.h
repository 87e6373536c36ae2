// Notices that a file was edited, or put in the place of another: it looks once a second, which
// works on every file system and needs no descriptor.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "runtime/loop.h"
#include "runtime/task.h"

namespace fairlead::app {

inline constexpr Duration kFileLookEvery = std::chrono::seconds(1);

// Which file is under a name, and when it was changed; "" when there is none.
std::string file_mark(const std::string& path);

// Runs `changed` after every change of the file since `mark`, until it is cancelled. While the file
// is missing, nothing has changed: editors take it away for a moment.
Task<void> watch_file(Loop& loop, std::string path, std::string mark,
                      std::function<Task<void>()> changed);

}  // namespace fairlead::app
