// How long the command line takes from its start to its end when there is nothing to do.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/percentile.h"
#include "tests/load/server_process.h"

extern char** environ;

namespace fairlead::bench {

namespace {

constexpr int kRuns = 100;
// What was promised.
constexpr double kMillisMax = 20;

double run_once(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  auto began = std::chrono::steady_clock::now();
  pid_t pid = -1;
  int failed = posix_spawn(&pid, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  check(failed == 0, "fairlead can be started");
  int status = 0;
  waitpid(pid, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ends well");
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

void run_case(BenchReport& report, const std::string& name, std::vector<std::string> words) {
  if (!report.wants(name)) return;
  words.insert(words.begin(), load::fairlead_program());
  std::vector<double> millis;
  for (int i = 0; i < kRuns; ++i) millis.push_back(run_once(words));
  const double best = *std::ranges::min_element(millis);
  const double median = percentile(millis, 0.5);
  report.add("start", name, median, "ms",
             {{"best_ms", best}, {"p99_ms", percentile(millis, 0.99)}});
  check(median < kMillisMax, "the command line starts at once");
}

}  // namespace

void run_start_bench(BenchReport& report) {
  run_case(report, "version", {"version"});
  run_case(report, "help", {"job", "list", "--help"});
}

}  // namespace fairlead::bench
