#include "worker/worker_command.h"

#include <csignal>
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "worker/work_folder.h"
#include "worker/worker.h"

extern char** environ;

namespace fairlead::worker {

namespace {

std::map<std::string, std::string> our_environment() {
  std::map<std::string, std::string> variables;
  for (char** line = environ; *line; ++line) {
    const std::string_view text = *line;
    const size_t equals = std::min(text.find('='), text.size());
    variables.emplace(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
  }
  return variables;
}

// Another for every process: an epoch of an earlier one is never taken for ours.
std::string new_id(Random& random) {
  char host[65] = "worker";
  ::gethostname(host, sizeof(host) - 1);
  std::string id = fmt::format("{}-{}-{}", host, ::getpid(), random.token().substr(0, 6));
  for (char& c : id) {
    if (c <= ' ' || c >= 127 || c == '.' || c == '*' || c == '>') c = '-';
  }
  return id;
}

void say(const std::string& line) {
  fmt::print(stderr, "fairlead worker: {}\n", line);
}

// Calls `heard` for every signal of the set, for ever.
template <class Heard>
void listen(asio::signal_set& signals, Heard heard) {
  signals.async_wait([&signals, heard](const boost::system::error_code& error, int) mutable {
    if (error) return;
    heard();
    listen(signals, std::move(heard));
  });
}

}  // namespace

int run(std::span<const std::string_view> args) {
  auto options = parse_options(args, our_environment());
  if (!options) {
    say(options.error().message);
    return 2;
  }
  if (options->help) {
    fmt::print("{}", usage());
    return 0;
  }
  auto program = find_program(options->command[0]);
  if (!program) {
    say(program.error().message);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  SystemClock clock;
  SystemRandom random;
  if (options->id.empty()) options->id = new_id(random);
  auto folder = WorkFolder::make();
  if (!folder) {
    say(folder.error().message);
    return 1;
  }
  auto watchdog = Watchdog::start(folder->path());
  if (!watchdog) {
    say(watchdog.error().message);
    return 1;
  }

  asio::io_context context(1);
  asio::signal_set ends(context, SIGTERM, SIGINT);
  asio::signal_set children(context, SIGCHLD);
  Worker worker({context, clock, random, *program, folder->path(), *watchdog, say},
                *std::move(options));
  bool asked = false, killed = false;
  listen(ends, [&] {
    if (std::exchange(asked, true)) {
      killed = true;
      worker.kill();
    } else {
      worker.drain();
    }
  });
  listen(children, [&] { worker.child_ended(); });
  asio::co_spawn(context, worker.run(), [&](std::exception_ptr) {
    ends.cancel();
    children.cancel();
    context.stop();
  });
  context.run();
  return killed ? 1 : 0;
}

}  // namespace fairlead::worker
