#include "app/text_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fairlead::app {

Result<std::string> read_text_file(const std::string& path, size_t bytes_max) {
  auto wrong = [&](const char* what) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} cannot be read: {}", path, what));
  };
  // Not a pipe that nobody writes to.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return wrong(std::strerror(errno));
  std::string text;
  char buffer[16 << 10];
  ssize_t count = 0;
  while (text.size() <= bytes_max && (count = ::read(file, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(count));
  }
  const int error = errno;
  ::close(file);
  if (count < 0) return wrong(std::strerror(error));
  if (text.size() > bytes_max) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has more than {} bytes", path, bytes_max));
  }
  return text;
}

}  // namespace fairlead::app
