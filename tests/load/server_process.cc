#include "tests/load/server_process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

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

int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program, const std::string& data,
                             const std::string& log, const std::vector<std::string>& flags,
                             const ServerPorts& ports) {
  std::vector<std::string> words = up_words(program, data, flags, ports);
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
  if (ports_.api == 0 || ports_.workers == 0)
    give_up("fairlead up did not get ready; it said:", log);
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
    if (line.starts_with(kReady)) break;
    line.clear();
  }
  ports_ = ports_in(line);
}

void ServerProcess::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int ServerProcess::stop() {
  ask_to_stop();
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return exit_status_of(status);
}

void ServerProcess::ask_to_stop() {
  ::kill(pid_, SIGTERM);
}

std::optional<int> ServerProcess::exit_status() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
  pid_ = -1;
  return exit_status_of(status);
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
