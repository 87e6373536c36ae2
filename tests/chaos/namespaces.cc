#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/chaos/network.h"

namespace fairlead::chaos {

namespace {

// Ports can be the same for all: each has an address of its own.
constexpr uint16_t kPort = 4000;

bool run(const std::vector<std::string>& words, int space = -1) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (space >= 0 && ::setns(space, CLONE_NEWNET) != 0) ::_exit(126);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// A namespace of our own: as root, or as the root of a namespace of users.
bool leave_for_own_namespace() {
  if (::unshare(CLONE_NEWNET) == 0) return true;
  const std::string user = std::to_string(::getuid());
  const std::string group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  return write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", "0 " + user + " 1") &&
         write_file("/proc/self/gid_map", "0 " + group + " 1");
}

class Namespaces final : public Network {
 public:
  ~Namespaces() override {
    for (const auto& [name, node] : nodes_) ::close(node.space);
  }

  load::Endpoint add(const std::string& name) override {
    const int number = static_cast<int>(nodes_.size()) + 1;
    Node node{-1, fmt::format("10.77.{}.2", number)};
    const pid_t holder = make_space();
    node.space = ::open(fmt::format("/proc/{}/ns/net", holder).c_str(), O_RDONLY | O_CLOEXEC);
    check(node.space >= 0, "a namespace can be held");
    const std::string here = fmt::format("v{}", number);
    const std::string router = fmt::format("10.77.{}.1", number);
    bool made = run({"ip", "link", "add", here, "type", "veth", "peer", "name", "eth0", "netns",
                     std::to_string(holder)});
    made = made && run({"ip", "addr", "add", router + "/24", "dev", here}) &&
           run({"ip", "link", "set", here, "up"}) &&
           run({"ip", "addr", "add", node.address + "/24", "dev", "eth0"}, node.space) &&
           run({"ip", "link", "set", "eth0", "up"}, node.space) &&
           run({"ip", "link", "set", "lo", "up"}, node.space) &&
           run({"ip", "route", "add", "default", "via", router}, node.space);
    check(made, "a namespace can be connected");
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
    return {nodes_.emplace(name, std::move(node)).first->second.address, kPort};
  }

  void enter(const std::string& name) override {
    if (::setns(nodes_.at(name).space, CLONE_NEWNET) != 0) ::_exit(126);
  }

  load::Endpoint route(const std::string&, const std::string& to) override {
    return {nodes_.at(to).address, kPort};
  }

  void cut(const std::string& one, const std::string& other) override { change("add", one, other); }
  void mend(const std::string& one, const std::string& other) override {
    change("del", one, other);
  }

  const char* kind() const override { return "network namespaces"; }

 private:
  struct Node {
    int space;
    std::string address;
  };

  // A process that does nothing, in a new namespace.
  static pid_t make_space() {
    int done[2];
    check(::pipe2(done, O_CLOEXEC) == 0, "a pipe can be made");
    const pid_t holder = ::fork();
    if (holder == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::unshare(CLONE_NEWNET) != 0) ::_exit(126);
      (void)!::write(done[1], "x", 1);
      while (true) ::pause();
    }
    char byte = 0;
    ::close(done[1]);
    check(::read(done[0], &byte, 1) == 1, "a namespace can be made");
    ::close(done[0]);
    return holder;
  }

  // Packets of this pair are dropped on their way through us.
  void change(const char* verb, const std::string& one, const std::string& other) {
    const std::string& a = nodes_.at(one).address;
    const std::string& b = nodes_.at(other).address;
    const bool changed =
        run({"ip", "rule", verb, "pref", "100", "from", a, "to", b, "blackhole"}) &&
        run({"ip", "rule", verb, "pref", "100", "from", b, "to", a, "blackhole"});
    check(changed, "a rule can be changed");
  }

  std::map<std::string, Node> nodes_;
};

}  // namespace

std::unique_ptr<Network> make_namespaces() {
  if (!run({"ip", "rule"}) || !leave_for_own_namespace()) return nullptr;
  if (!run({"ip", "link", "set", "lo", "up"}) ||
      !write_file("/proc/sys/net/ipv4/ip_forward", "1")) {
    return nullptr;
  }
  return std::make_unique<Namespaces>();
}

}  // namespace fairlead::chaos
