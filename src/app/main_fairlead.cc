// fairlead: the first word says what it does.
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/build_info.h"
#include "app/up_command.h"

namespace {

using Words = std::span<const std::string_view>;

constexpr const char* kHelp = R"(fairlead: leads every job to one fit worker, and accounts for it

  fairlead up              start the server (--demo: with an echo worker and a few jobs)
  fairlead settings        the settings in force, and where each came from
  fairlead version         what was built

Each has --help, with examples.
)";

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

int show_version() {
  auto build = fairlead::app::build_info();
  std::fputs(fmt::format("fairlead {} ({}, {})\n", build.version, build.commit, build.date).c_str(),
             stdout);
  return 0;
}

// What belongs to the command line and to the worker.
int run_other(std::string_view program, Words words) {
  const std::string_view verb = words.empty() ? "" : words[0];
  std::fputs(
      fmt::format("{}: there is no verb \"{}\": see {} help\n", program, verb, program).c_str(),
      stderr);
  return 2;
}

int run(std::string_view program, Words words) {
  if (program == "cordumctl") return run_other(program, words);
  const std::string_view verb = words.empty() ? "help" : words[0];
  const Words rest = words.empty() ? words : words.subspan(1);
  if (verb == "up") return fairlead::app::up(rest);
  if (verb == "settings") return fairlead::app::show_settings(rest);
  if (verb == "version" || verb == "--version") return show_version();
  if (verb == "help" || verb == "--help" || verb == "-h") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  return run_other(program, words);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string_view> words(arguments, arguments + count);
  if (words.empty()) return 2;
  return run(base_name(words[0]), Words(words).subspan(1));
}
