#include "tests/load/server_process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

extern char** environ;

namespace fairlead::load {

namespace {

[[noreturn]] void give_up(const std::string& why, const std::string& log) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) std::fprintf(stderr, "  %s\n", line.c_str());
  std::exit(1);
}

// The number behind the last colon of the word that follows `name`.
uint16_t port_of(std::string_view line, std::string_view name) {
  size_t at = line.find(name);
  if (at == line.npos) return 0;
  std::string_view rest = line.substr(at + name.size());
  rest = rest.substr(0, rest.find(','));
  size_t colon = rest.rfind(':');
  if (colon == rest.npos) return 0;
  return static_cast<uint16_t>(std::atoi(std::string(rest.substr(colon + 1)).c_str()));
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program, const std::string& data,
                             const std::string& log, const std::vector<std::string>& flags,
                             ServerPorts ports) {
  std::vector<std::string> words = {program,
                                    "up",
                                    "--data",
                                    data,
                                    "--listen-api",
                                    "127.0.0.1:0",
                                    "--listen-workers",
                                    "127.0.0.1:" + std::to_string(ports.workers),
                                    "--listen-payloads",
                                    "127.0.0.1:" + std::to_string(ports.payloads),
                                    "--listen-metrics",
                                    "127.0.0.1:0"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int pipe_ends[2];
  check(pipe2(pipe_ends, O_CLOEXEC) == 0, "a pipe can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  int failed = posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (failed != 0) give_up("cannot start " + program, log);
  read_ready_line(pipe_ends[0]);
  close(pipe_ends[0]);
  if (api_ == 0 || workers_ == 0) give_up("fairlead up did not get ready; it said:", log);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) kill();
}

void ServerProcess::read_ready_line(int pipe) {
  std::string line;
  char byte = 0;
  while (read(pipe, &byte, 1) == 1) {
    if (byte != '\n') {
      line.push_back(byte);
      continue;
    }
    if (line.starts_with("fairlead is ready")) break;
    line.clear();
  }
  api_ = port_of(line, " api ");
  workers_ = port_of(line, " workers ");
  payloads_ = port_of(line, " payloads ");
  metrics_ = port_of(line, " metrics ");
}

void ServerProcess::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int ServerProcess::stop() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

uint64_t ServerProcess::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string fairlead_program() {
  if (const char* given = std::getenv("FAIRLEAD_PROGRAM")) return given;
  return FAIRLEAD_PROGRAM;
}

}  // namespace fairlead::load
