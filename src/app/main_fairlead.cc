// fairlead: the first word says what it does.
#include <span>
#include <string_view>
#include <vector>

#include "app/build_info.h"
#include "app/own_verbs.h"
#include "app/server_commands.h"
#include "cli/cli.h"
#include "worker/worker_command.h"

namespace {

using Words = std::span<const std::string_view>;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// `worker list` asks a server; every other `worker` is one.
bool is_listing(Words behind_worker) {
  return !behind_worker.empty() && behind_worker[0] == "list";
}

int run(std::string_view program, Words words) {
  using fairlead::app::build_info;
  if (program == "cordumctl") return fairlead::cli::run(program, words, build_info());
  auto call = [&](Words said) {
    return fairlead::cli::run("fairlead", said, build_info(), fairlead::app::own_verbs());
  };
  if (words.empty()) return call(words);
  // `help up` is `up --help`.
  std::vector<std::string_view> asked(words.begin(), words.end());
  if (asked.size() == 2 && asked[0] == "help") asked = {asked[1], "--help"};
  words = asked;
  const std::string_view verb = words[0];
  const Words rest = words.subspan(1);
  if (verb == "up") return fairlead::app::up(rest);
  if (verb == "serve") return fairlead::app::serve(rest);
  if (verb == "settings") return fairlead::app::show_settings(rest);
  if (verb == "worker" && !is_listing(rest)) return fairlead::worker::run(rest);
  if (verb == "--version") return call(std::vector<std::string_view>{"version"});
  return call(words);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string_view> words(arguments, arguments + count);
  if (words.empty()) return 2;
  return run(base_name(words[0]), Words(words).subspan(1));
}
