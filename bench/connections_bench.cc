// Idle workers' connections: how many the server holds, and what each costs it.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/own_server.h"

namespace fairlead::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kConnections = 10'000;
// Held for as long before they are counted again.
constexpr auto kHeldFor = 10s;
constexpr auto kAnswerWait = 30s;

bool say(int socket, std::string_view text) {
  return write(socket, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A connected worker that has nothing to do: it has said its name and what it listens to. -1: the
// server does not take it.
int connect_one(uint16_t port, int number) {
  int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  if (!say(one,
           fmt::format("CONNECT {{\"verbose\":false}}\r\nSUB worker.idle-{}.jobs 1\r\nPING\r\n",
                       number))) {
    return -1;
  }
  std::string heard;
  char buffer[4096];
  while (!heard.contains("PONG\r\n")) {
    ssize_t size = read(one, buffer, sizeof buffer);
    if (size <= 0) return -1;
    heard.append(buffer, static_cast<size_t>(size));
  }
  return one;
}

// The clients, in a process of their own because of the limit of open files.
class Clients {
 public:
  explicit Clients(uint16_t port) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    while (held() < kConnections) {
      int one = connect_one(port, held());
      if (one < 0) break;
      epoll_event wish{.events = EPOLLIN, .data = {.fd = one}};
      epoll_ctl(ready_, EPOLL_CTL_ADD, one, &wish);
      sockets_.push_back(one);
    }
  }

  int held() const { return static_cast<int>(sockets_.size()); }

  // Answers what the server asks; counts the answers to what it was asked.
  void listen_until(SteadyClock::time_point end, int answers_wanted) {
    while (SteadyClock::now() < end && answers_ < answers_wanted) {
      epoll_event events[256];
      int count = epoll_wait(ready_, events, 256, 100);
      for (int i = 0; i < count; ++i) hear(events[i].data.fd);
    }
  }

  // Those that the server still knows: it answers each.
  int count() {
    answers_ = 0;
    for (int one : sockets_) say(one, "PING\r\n");
    listen_until(SteadyClock::now() + kAnswerWait, held());
    return answers_;
  }

 private:
  void hear(int one) {
    char buffer[512];
    ssize_t size = read(one, buffer, sizeof buffer);
    if (size <= 0) {
      epoll_ctl(ready_, EPOLL_CTL_DEL, one, nullptr);
      return;
    }
    std::string_view text(buffer, static_cast<size_t>(size));
    if (text.contains("PING")) say(one, "PONG\r\n");
    if (text.contains("PONG")) ++answers_;
  }

  int ready_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> sockets_;
  int answers_ = 0;
};

// Tells how many there are when all are connected, holds them for a while, and tells how many the
// server still answers.
[[noreturn]] void hold_connections(uint16_t port, int answer) {
  signal(SIGPIPE, SIG_IGN);
  Clients clients(port);
  int held = clients.held();
  (void)!write(answer, &held, sizeof held);
  clients.listen_until(SteadyClock::now() + kHeldFor, INT32_MAX);
  held = clients.count();
  (void)!write(answer, &held, sizeof held);
  while (true) pause();
}

int told_by(int pipe_end) {
  int number = -1;
  check(read(pipe_end, &number, sizeof number) == static_cast<ssize_t>(sizeof number),
        "the clients say how many they are");
  return number;
}

}  // namespace

void run_connections_bench(BenchReport& report) {
  if (!report.wants("idle=10000")) return;
  OwnServer own;
  uint64_t before = own.server.resident_bytes();
  int pipe_ends[2];
  check(pipe(pipe_ends) == 0, "a pipe can be made");
  pid_t child = fork();
  if (child == 0) hold_connections(own.server.workers(), pipe_ends[1]);
  close(pipe_ends[1]);
  const int made = told_by(pipe_ends[0]);
  const int held = told_by(pipe_ends[0]);
  uint64_t after = own.server.resident_bytes();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[0]);
  check(made == kConnections, "the server takes all connections");
  check(held == kConnections, "the server holds all connections");
  report.add("connections", "idle=10000", held, "connections",
             {{"bytes_each", static_cast<double>(after - before) / held},
              {"held_for_s", std::chrono::duration<double>(kHeldFor).count()}});
}

}  // namespace fairlead::bench
