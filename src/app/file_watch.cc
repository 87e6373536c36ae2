#include "app/file_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace fairlead::app {

std::string files_mark(const std::vector<std::string>& paths) {
  std::string mark;
  for (const std::string& path : paths) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return "";
    mark += fmt::format("{}/{}/{}/{}.{} ", found.st_dev, found.st_ino, found.st_size,
                        found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
  }
  return mark;
}

Task<void> watch_files(Loop& loop, std::vector<std::string> paths, std::string mark,
                       std::function<Task<void>()> changed) {
  while (co_await loop.delay(kFileLookEvery)) {
    std::string now = files_mark(paths);
    if (now.empty() || now == mark) continue;
    mark = std::move(now);
    co_await changed();
  }
}

}  // namespace fairlead::app
