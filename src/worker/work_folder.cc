#include "worker/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace fairlead::worker {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "fairlead-worker-";
constexpr const char* kLock = "lock";

}  // namespace

Result<WorkFolder> WorkFolder::make() {
  std::error_code error;
  fs::path place = fs::temp_directory_path(error);
  if (error) place = "/tmp";
  remove_left_behind(place);
  std::string path = (place / (std::string(kPrefix) + "XXXXXX")).string();
  if (!::mkdtemp(path.data())) {
    return fail(ErrorCode::kUnavailable, path + ": " + std::strerror(errno));
  }
  // It has its name only when it is locked: until then the folder is nobody's to remove.
  const std::string unnamed = path + "/lock-to-be";
  const int lock = ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0 ||
      ::rename(unnamed.c_str(), (path + "/" + kLock).c_str()) != 0) {
    const int why = errno;
    if (lock >= 0) ::close(lock);
    fs::remove_all(path, error);
    return fail(ErrorCode::kUnavailable, path + ": " + std::strerror(why));
  }
  return WorkFolder(std::move(path), lock);
}

void WorkFolder::remove_left_behind(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    const int lock = ::open((at->path() / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;  // another user's, or not locked yet
    std::error_code ignored;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(at->path(), ignored);
    ::close(lock);
  }
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace fairlead::worker
