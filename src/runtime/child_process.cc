#include "runtime/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace fairlead {

namespace {

constexpr int kProgressDescriptor = 3;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor reading;
  Descriptor writing;

  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return true;
  }
};

bool is_runnable(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::unexpected<Error> no_room(const char* what) {
  return fail(ErrorCode::kUnavailable, std::string(what) + ": " + std::strerror(errno));
}

std::vector<std::string> environment_of(const ChildSpec& spec) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : spec.variables) lines.push_back(name + "=" + value);
  for (char** line = environ; *line; ++line) {
    const std::string_view text = *line;
    const std::string_view name = text.substr(0, text.find('='));
    bool ours = false;
    for (const auto& variable : spec.variables) ours |= variable.first == name;
    if (!ours) lines.emplace_back(text);
  }
  return lines;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, where only calls that are safe after a fork may be made.
[[noreturn]] void become(const ChildSpec& spec, char** words, char** variables,
                         const int (&ends)[4], int failure, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before we asked
  // Not later: the program may start others before its parent has come to say so.
  if (spec.watchdog) spec.watchdog->guard(::getpid());
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  // First out of the way of the numbers that they will have.
  int moved[4];
  for (int i = 0; i < 4; ++i) moved[i] = ::fcntl(ends[i], F_DUPFD, 10);
  int report = ::fcntl(failure, F_DUPFD_CLOEXEC, 10);
  for (int i = 0; i <= kProgressDescriptor; ++i) ::dup2(moved[i], i);
  ::close_range(kProgressDescriptor + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execve(spec.program.c_str(), words, variables);
  int error = errno;
  (void)!::write(report, &error, sizeof(error));
  ::_exit(127);
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != name.npos) {
    if (is_runnable(name)) return name;
    return fail(ErrorCode::kInvalid, name + " is not a program that can be run");
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path && *path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!name.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, colon));
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_runnable(candidate)) return candidate;
    if (colon == rest.size()) break;
    rest.remove_prefix(colon + 1);
  }
  return fail(ErrorCode::kInvalid, "there is no program '" + name + "' in PATH");
}

Result<ChildProcess> ChildProcess::start(const ChildSpec& spec) {
  const char* input_path = spec.input_path.empty() ? "/dev/null" : spec.input_path.c_str();
  Descriptor input(::open(input_path, O_RDONLY | O_CLOEXEC));
  if (input.get() < 0) return no_room(input_path);
  Pipe output, errors, progress, failure;
  if (!output.open() || !errors.open() || !progress.open() || !failure.open()) {
    return no_room("cannot make a pipe");
  }
  const std::vector<std::string> environment = environment_of(spec);
  std::vector<char*> words = pointers_to(spec.words);
  std::vector<char*> variables = pointers_to(environment);
  const int ends[4] = {input.get(), output.writing.get(), errors.writing.get(),
                       progress.writing.get()};

  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) return no_room("cannot start a process");
  if (id == 0) {
    become(spec, words.data(), variables.data(), ends, failure.writing.get(), parent);
  }
  ::setpgid(id, id);  // both sides do it, so that the group is there whoever comes first
  failure.writing.reset();
  int error = 0;
  ssize_t count = 0;
  while ((count = ::read(failure.reading.get(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  ChildProcess child;
  child.id_ = id;
  child.watchdog_ = spec.watchdog;
  if (count == sizeof(error)) {
    return fail(ErrorCode::kInvalid, spec.program + ": " + std::strerror(error));
  }
  child.output_ = output.reading.release();
  child.errors_ = errors.reading.release();
  child.progress_ = progress.reading.release();
  for (int end : {child.output_, child.errors_, child.progress_}) {
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      watchdog_(other.watchdog_),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      progress_(std::exchange(other.progress_, -1)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
  for (int end : {output_, errors_, progress_}) {
    if (end >= 0) ::close(end);
  }
  if (id_ >= 0 && !end_) reap();
}

int ChildProcess::reap() {
  ::kill(-id_, SIGKILL);
  if (watchdog_) watchdog_->release(id_);
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void ChildProcess::signal(int number) {
  if (id_ > 0 && !end_) ::kill(-id_, number);
}

std::optional<ChildEnd> ChildProcess::poll() {
  if (end_ || id_ < 0) return end_;
  // Looked at before it is reaped: until then nobody else can have its group's number.
  siginfo_t about{};
  if (::waitid(P_PID, static_cast<id_t>(id_), &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      about.si_pid == 0) {
    return std::nullopt;
  }
  const int status = reap();
  end_ = WIFEXITED(status) ? ChildEnd{WEXITSTATUS(status), 0} : ChildEnd{0, WTERMSIG(status)};
  return end_;
}

}  // namespace fairlead
