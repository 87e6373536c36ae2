// Idle workers' connections: how many the server holds, and what each costs it.
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/own_server.h"

namespace fairlead::bench {

namespace {

constexpr int kConnections = 10'000;

// A connected worker that has nothing to do: it has said its name and what it listens to.
bool connect_one(uint16_t port, int number) {
  int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
  std::string hello =
      fmt::format("CONNECT {{\"verbose\":false}}\r\nSUB worker.idle-{}.jobs 1\r\nPING\r\n", number);
  if (write(one, hello.data(), hello.size()) != static_cast<ssize_t>(hello.size())) return false;
  std::string heard;
  char buffer[4096];
  while (!heard.contains("PONG\r\n")) {
    ssize_t size = read(one, buffer, sizeof buffer);
    if (size <= 0) return false;
    heard.append(buffer, static_cast<size_t>(size));
  }
  return true;
}

// The clients, in a process of their own because of the limit of open files. Says how many there
// are when all are connected, and holds them until it is killed.
[[noreturn]] void hold_connections(uint16_t port, int answer) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int held = 0;
  while (held < kConnections && connect_one(port, held)) ++held;
  (void)!write(answer, &held, sizeof held);
  while (true) pause();
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
  int held = 0;
  bool told = read(pipe_ends[0], &held, sizeof held) == static_cast<ssize_t>(sizeof held);
  uint64_t after = own.server.resident_bytes();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  check(told, "the clients say how many they are");
  report.add("connections", "idle=10000", held, "connections",
             {{"bytes_each", static_cast<double>(after - before) / std::max(1, held)}});
}

}  // namespace fairlead::bench
