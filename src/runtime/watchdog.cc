#include "runtime/watchdog.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead {

namespace {

// What passes through the pipe: shorter than what a pipe takes at once.
struct Note {
  pid_t group;
  bool lives;
};

// Signals of a terminal are for the process that is watched. Nothing of it is held open.
void stand_apart(int pipe) {
  ::setsid();
  ::prctl(PR_SET_NAME, "fairlead-watch");
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  ::dup2(pipe, STDIN_FILENO);
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, 0);
  (void)!::chdir("/");
}

[[noreturn]] void watch(const std::string& folder) {
  std::set<pid_t> groups;
  for (;;) {
    Note note{};
    const ssize_t count = ::read(STDIN_FILENO, &note, sizeof(note));
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof(note)) break;
    if (note.lives) {
      groups.insert(note.group);
    } else {
      groups.erase(note.group);
    }
  }
  for (pid_t group : groups) ::kill(-group, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  ::_exit(0);
}

void tell(int pipe, Note note) {
  while (::write(pipe, &note, sizeof(note)) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Watchdog> Watchdog::start(const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kUnavailable,
                std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const std::string absolute = std::filesystem::absolute(folder).string();
  const pid_t id = ::fork();
  if (id == 0) {
    ::close(ends[1]);
    stand_apart(ends[0]);
    watch(absolute);
  }
  ::close(ends[0]);
  if (id < 0) {
    ::close(ends[1]);
    return fail(ErrorCode::kUnavailable,
                std::string("cannot start a process: ") + std::strerror(errno));
  }
  return Watchdog(id, ends[1]);
}

Watchdog::Watchdog(Watchdog&& other) noexcept
    : id_(std::exchange(other.id_, -1)), pipe_(std::exchange(other.pipe_, -1)) {}

Watchdog::~Watchdog() {
  if (id_ < 0) return;
  ::close(pipe_);
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Watchdog::guard(pid_t group) const {
  tell(pipe_, {group, true});
}

void Watchdog::release(pid_t group) const {
  tell(pipe_, {group, false});
}

}  // namespace fairlead
