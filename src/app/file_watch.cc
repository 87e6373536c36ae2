#include "app/file_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace fairlead::app {

std::string file_mark(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}/{}/{}/{}.{}", found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

Task<void> watch_file(Loop& loop, std::string path, std::string mark,
                      std::function<Task<void>()> changed) {
  while (co_await loop.delay(kFileLookEvery)) {
    std::string now = file_mark(path);
    if (now.empty() || now == mark) continue;
    mark = std::move(now);
    co_await changed();
  }
}

}  // namespace fairlead::app
