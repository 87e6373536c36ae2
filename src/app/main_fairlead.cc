// fairlead: the first word says what it does.
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/build_info.h"
#include "app/up_command.h"
#include "cli/cli.h"
#include "worker/worker_command.h"

namespace {

using Words = std::span<const std::string_view>;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

int show_version() {
  auto build = fairlead::app::build_info();
  std::fputs(fmt::format("fairlead {} ({}, {})\n", build.version, build.commit, build.date).c_str(),
             stdout);
  return 0;
}

// `worker list` asks a server; every other `worker` is one.
bool is_listing(Words behind_worker) {
  return !behind_worker.empty() && behind_worker[0] == "list";
}

int run(std::string_view program, Words words) {
  if (program == "cordumctl" || words.empty()) return fairlead::cli::run(program, words);
  const std::string_view verb = words[0];
  const Words rest = words.subspan(1);
  if (verb == "up") return fairlead::app::up(rest);
  if (verb == "settings") return fairlead::app::show_settings(rest);
  if (verb == "worker" && !is_listing(rest)) return fairlead::worker::run(rest);
  if (verb == "--version" || (verb == "version" && rest.empty())) return show_version();
  return fairlead::cli::run(program, words);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string_view> words(arguments, arguments + count);
  if (words.empty()) return 2;
  return run(base_name(words[0]), Words(words).subspan(1));
}
