#include "app/up_command.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/drain.h"
#include "app/embedded_server.h"
#include "app/settings.h"
#include "app/stderr_log.h"
#include "runtime/signals.h"

namespace fairlead::app {

namespace {

using Words = std::span<const std::string_view>;

constexpr const char* kUpHelp = R"text(fairlead up [--SETTING VALUE …]

Starts the server: one process, nothing else to start. Ctrl-C stops it, and so does SIGTERM: it
finishes what is under way and loses nothing. A second one ends it at once.

Examples
  fairlead up                              on this machine only, data in ./fairlead-data
  fairlead up --demo                       with an echo worker and a few jobs
  fairlead up --data /var/lib/fairlead --config /etc/fairlead/fairlead.yaml
  fairlead up --listen-api 0.0.0.0:8081 --api-key "$(openssl rand -hex 32)"

Settings, each also FAIRLEAD_NAME in the environment and a key of the file (flags win, then the
environment, then the file); `fairlead settings` shows what is in force
)text";

constexpr const char* kSettingsHelp = R"(fairlead settings [--json] [--SETTING VALUE …]

Shows the value of every setting of `fairlead up` and where it came from: default, file,
environment or flag. Secrets are not shown. Takes the flags of `fairlead up`.

Examples
  fairlead settings
  FAIRLEAD_LOG_FORMAT=json fairlead settings --config fairlead.yaml --json

Settings
)";

bool asks_for_help(Words args) {
  return std::ranges::any_of(
      args, [](std::string_view word) { return word == "--help" || word == "-h"; });
}

int say(const Wrong& wrong) {
  std::fputs(fmt::format("fairlead: {}\n", wrong.message).c_str(), stderr);
  return wrong.status;
}

std::expected<Settings, Wrong> resolve(Words args) {
  return Settings::resolve(args, [](const std::string& name) { return std::getenv(name.c_str()); });
}

// Every connection is a file descriptor; the soft limit is for programs that use select().
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void end_at_once(Log& log, int status, const char* why) {
  log.error(why, {{"status", std::to_string(status)}});
  std::_Exit(status);
}

// The first signal drains, the second ends; so does a drain that takes too long.
class StopSignals {
 public:
  StopSignals(EmbeddedServer& server, Log& log)
      : server_(server),
        log_(log),
        signals_({SIGTERM, SIGINT, SIGHUP, SIGALRM}, [this](int number) { take(number); }) {}

 private:
  void take(int number) {
    if (number == SIGALRM) end_at_once(log_, kFailure, "draining took too long");
    if (std::exchange(draining_, true)) {
      end_at_once(log_, 128 + number, "stopped by a second signal");
    }
    ::alarm(
        static_cast<unsigned>(std::chrono::duration_cast<std::chrono::seconds>(kDrainAll).count()));
    server_.drain();
  }

  EmbeddedServer& server_;
  Log& log_;
  bool draining_ = false;
  Signals signals_;
};

}  // namespace

int up(Words args) {
  if (asks_for_help(args)) {
    std::fputs((kUpHelp + describe_settings()).c_str(), stdout);
    return 0;
  }
  auto settings = resolve(args);
  if (!settings) return say(settings.error());
  auto config = config_of(*settings);
  if (!config) return say(config.error());

  allow_many_connections();
  // Who reads our output may go away; that is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  SystemClock clock;
  StderrLog log(log_style_of(*settings), clock);
  ProtobufLog protobuf(log);
  EmbeddedServer server(*std::move(config), log);
  StopSignals signals(server, log);
  if (auto served = server.run(); !served) return say({kFailure, served.error().message});
  return 0;
}

int show_settings(Words args) {
  if (asks_for_help(args)) {
    std::fputs((kSettingsHelp + describe_settings()).c_str(), stdout);
    return 0;
  }
  std::vector<std::string_view> flags(args.begin(), args.end());
  const bool json = std::erase(flags, "--json") > 0;
  auto settings = resolve(flags);
  if (!settings) return say(settings.error());
  std::fputs((json ? show_json(*settings) : show_table(*settings)).c_str(), stdout);
  return 0;
}

}  // namespace fairlead::app
