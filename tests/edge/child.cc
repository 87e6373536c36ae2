#include "tests/edge/child.h"

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead::edge {

Child::Child(const std::vector<std::string>& words,
             const std::map<std::string, std::string>& variables) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    // A test that crashes leaves nothing behind.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(out[1], STDERR_FILENO);
    // Sockets of ours would live on in it.
    ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_pipe_ = out[0];
}

Child::~Child() {
  close_input();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  ::close(output_pipe_);
}

std::string Child::line() {
  while (true) {
    if (size_t end = output_.find('\n', read_to_); end != std::string::npos) {
      std::string text = output_.substr(read_to_, end - read_to_);
      read_to_ = end + 1;
      return text;
    }
    char buffer[4096];
    ssize_t count = ::read(output_pipe_, buffer, sizeof(buffer));
    if (count <= 0) return {};
    output_.append(buffer, static_cast<size_t>(count));
  }
}

void Child::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

void Child::say(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(input_, rest.data(), rest.size());
    if (count <= 0) return;  // it reads no more
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

void Child::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

int Child::wait() {
  // What it still says is read, or it could not end.
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(output_pipe_, buffer, sizeof(buffer))) > 0) {
    output_.append(buffer, static_cast<size_t>(count));
  }
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace fairlead::edge
