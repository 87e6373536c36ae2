#include "tests/chaos/node.h"

#include <csignal>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace fairlead::chaos {

Node::Node(Network& network, std::string name, std::vector<std::string> words, std::string log)
    : network_(network), name_(std::move(name)), words_(std::move(words)), log_(std::move(log)) {}

Node::~Node() {
  kill();
}

void Node::start() {
  check(pid_ < 0, "it has ended before it is started again");
  std::vector<char*> arguments;
  for (std::string& word : words_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  network_.enter(name_);
  const int out = ::open(log_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

void Node::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

bool Node::runs() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

void Node::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

}  // namespace fairlead::chaos
