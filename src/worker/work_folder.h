// The folder under which a worker's jobs have theirs. It is locked for as long as the worker lives,
// so that the next one can tell what a dead one left.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace fairlead::worker {

class WorkFolder {
 public:
  // Makes it among the temporary files, and removes those of workers that are dead.
  static Result<WorkFolder> make();

  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  static void remove_left_behind(const std::filesystem::path& place);

  std::string path_;
  int lock_;
};

}  // namespace fairlead::worker
