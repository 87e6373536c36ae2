#include "app/server_commands.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/cluster_server.h"
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

constexpr const char* kServeHelp = R"text(fairlead serve [--SETTING VALUE …]

Starts one replica of a cluster on NATS and Redis: a scheduler, and with --role scheduler,gateway
the API too. Any number of them share the work, beside each other and beside the Go services that
they replace: the variables that those read mean the same here, also the ones that have no flag
(NATS_TLS_…, NATS_USERNAME, NATS_PASSWORD, NATS_TOKEN, NATS_NKEY, NATS_JS_…, REDIS_TLS_…,
JOB_META_TTL, CORDUM_IDEMPOTENCY_TTL, CORDUM_DLQ_ENTRY_TTL_DAYS, CORDUM_ENV).
Ctrl-C stops it, and so does SIGTERM: it finishes what is under way and leaves the rest to the
others. A second one ends it at once.

Examples
  fairlead serve --nats-jetstream
  fairlead serve --role scheduler,gateway --nats-url nats://nats:4222 --redis-url redis://redis:6379

Settings, each also FAIRLEAD_NAME in the environment and a key of the file (flags win, then the
environment, then the file); `fairlead settings serve` shows what is in force
)text";

constexpr const char* kSettingsHelp = R"(fairlead settings [up|serve] [-o json] [--SETTING VALUE …]

Shows the value of every setting of `fairlead up`, or of `fairlead serve`, and where it came from:
default, file, environment or flag. Secrets are not shown. Takes the flags of that command.

Examples
  fairlead settings
  fairlead settings serve --role scheduler,gateway
  FAIRLEAD_LOG_FORMAT=json fairlead settings --config fairlead.yaml -o json

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

// Takes `-o FORMAT` and its other spellings out of the words; "" when there is none.
std::expected<std::string, Wrong> take_output(std::vector<std::string_view>& words) {
  std::string format;
  for (size_t i = 0; i < words.size();) {
    std::string_view word = words[i];
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    if (name != "-o" && name != "--output") {
      ++i;
      continue;
    }
    const bool next = equals == word.size();
    if (next && i + 1 == words.size()) {
      return std::unexpected(Wrong{kUsage, "--output needs a value: table or json"});
    }
    format = next ? words[i + 1] : word.substr(equals + 1);
    const auto at = words.begin() + static_cast<ptrdiff_t>(i);
    words.erase(at, at + (next ? 2 : 1));
    if (format != "table" && format != "json") {
      return std::unexpected(
          Wrong{kUsage, fmt::format("--output is '{}', must be table or json", format)});
    }
  }
  return format;
}

std::expected<Settings, Wrong> resolve(Verb verb, Words args) {
  return Settings::resolve(verb, args,
                           [](const std::string& name) { return std::getenv(name.c_str()); });
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
  StopSignals(std::function<void()> drain, Log& log)
      : drain_(std::move(drain)),
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
    drain_();
  }

  std::function<void()> drain_;
  Log& log_;
  bool draining_ = false;
  Signals signals_;
};

// Runs a server of that kind until a signal ends it.
template <class Server, class ServerConfig>
int run(ServerConfig config, const Settings& settings) {
  allow_many_connections();
  // Who reads our output may go away; that is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  SystemClock clock;
  StderrLog log(log_style_of(settings), clock);
  ProtobufLog protobuf(log);
  Server server(std::move(config), log);
  StopSignals signals([&server] { server.drain(); }, log);
  if (auto served = server.run(); !served) return say({kFailure, served.error().message});
  return 0;
}

int help(const char* text, Verb verb) {
  std::fputs((text + describe_settings(verb)).c_str(), stdout);
  return 0;
}

}  // namespace

int up(Words args) {
  if (asks_for_help(args)) return help(kUpHelp, Verb::kUp);
  auto settings = resolve(Verb::kUp, args);
  if (!settings) return say(settings.error());
  auto config = config_of(*settings);
  if (!config) return say(config.error());
  return run<EmbeddedServer>(*std::move(config), *settings);
}

int serve(Words args) {
  if (asks_for_help(args)) return help(kServeHelp, Verb::kServe);
  auto settings = resolve(Verb::kServe, args);
  if (!settings) return say(settings.error());
  auto config = serve_config_of(*settings, own_environment());
  if (!config) return say(config.error());
  return run<ClusterServer>(*std::move(config), *settings);
}

int show_settings(Words args) {
  Verb verb = Verb::kUp;
  if (!args.empty() && (args[0] == "up" || args[0] == "serve")) {
    if (args[0] == "serve") verb = Verb::kServe;
    args = args.subspan(1);
  }
  if (asks_for_help(args)) return help(kSettingsHelp, verb);
  std::vector<std::string_view> flags(args.begin(), args.end());
  bool json = std::erase(flags, "--json") > 0;
  if (auto format = take_output(flags); !format) {
    return say(format.error());
  } else if (!format->empty()) {
    json = *format == "json";
  }
  auto settings = resolve(verb, flags);
  if (settings) settings = in_force(*std::move(settings));
  if (!settings) return say(settings.error());
  std::fputs((json ? show_json(*settings) : show_table(*settings)).c_str(), stdout);
  return 0;
}

}  // namespace fairlead::app
