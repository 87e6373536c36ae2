// status, tail, top, doctor, version, completion.
#include <cstdio>
#include <utility>

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "cli/doctor.h"
#include "cli/output.h"
#include "cli/placement_text.h"
#include "cli/top_screen.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

// Between two tries to open a stream again.
constexpr Duration kReopenAfter = std::chrono::milliseconds(500);

int status(Call& call) {
  const json::value body = call.ask("GET", "/api/v1/status");
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(body));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", text_at(body, "instance_id"));
  } else {
    const json::value& build = member(body, "build");
    const json::value& jobs = member(body, "pipeline");
    std::string live, over;
    for (const char* name : {"pending", "scheduled", "dispatched", "running", "retrying"}) {
      live += fmt::format("{}{} {}", live.empty() ? "" : ", ", text_at(jobs, name), name);
    }
    for (const char* name : {"succeeded", "failed", "denied", "cancelled", "timeout"}) {
      if (!member(jobs, name).is_number()) continue;  // they are not counted by tenant
      over += fmt::format("{}{} {}", over.empty() ? "" : ", ", text_at(jobs, name), name);
    }
    const auto up = std::chrono::seconds(static_cast<int64_t>(number_at(body, "uptime_seconds")));
    over += over.empty() ? "-" : " (as long as they are kept)";
    fmt::print("{}", listing({{"Server", call.client.endpoint().url},
                              {"Version", text_at(build, "version")},
                              {"Commit", text_at(build, "commit")},
                              {"Up", short_time(up)},
                              {"Workers", text_at(member(body, "workers"), "count")},
                              {"Jobs now", live},
                              {"Jobs ended", over}}));
  }
  return kDone;
}

// A server that ends the stream may be restarting: it is opened again where it ended.
int tail(Call& call) {
  std::string last_event;
  bool opened = false, told = false;
  const bool with_heartbeats = call.has("heartbeats");
  auto take = [&](const Event& event) {
    last_event = event.id;
    opened = true;
    told = false;
    if (event.name == "worker.heartbeat" && !with_heartbeats) return true;
    fmt::print("{}", event_line(event, call.output == Output::kJson));
    std::fflush(stdout);
    return true;
  };
  const Duration at_most = call.duration("for", Duration::zero());
  const bool bounded = at_most > Duration::zero();
  const MonotonicTime end = call.clock.monotonic() + at_most;
  for (;;) {
    const Duration left = bounded ? end - call.clock.monotonic() : Duration::zero();
    if (bounded && left <= Duration::zero()) return kDone;
    auto answer = call.client.stream("/api/v1/stream", last_event, left, take);
    if (answer && !answer->good()) call.refuse(*answer);
    if (!answer && answer.error().why == NoAnswer::Why::kTimeOver) return kDone;
    opened |= answer.has_value();
    if (!opened) call.no_server(answer.error());  // it was never there
    if (!std::exchange(told, true)) {
      fmt::print(stderr, "{}: the server ended the stream; waiting for it\n", call.dialect.program);
    }
    call.client.pause(kReopenAfter);
  }
}

int version(Call& call) {
  const Build& build = call.dialect.build;
  if (call.output == Output::kJson) {
    fmt::print("{}",
               pretty(json::object{
                   {"version", build.version}, {"commit", build.commit}, {"date", build.date}}));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", build.version);
  } else {
    fmt::print("{} {} ({}, {})\n", call.dialect.program, build.version, build.commit, build.date);
  }
  return kDone;
}

int completion(Call& call) {
  if (call.words[0] != "bash") {
    throw Problem{kUsage,
                  fmt::format("there is no completion for {}, only for bash", call.words[0])};
  }
  fmt::print("{}", bash_completion(call.dialect));
  return kDone;
}

}  // namespace

std::vector<Verb> server_verbs() {
  return {
      {"status", "", "The server in numbers.", {}, "status\nstatus -o json", status, 0, 0},
      {"tail",
       "",
       "What happens, as it happens, until Ctrl-C.",
       {{"heartbeats", "", "of workers, too"}, {"for", "TIME", "end after this"}},
       "tail\ntail -o json --heartbeats",
       tail,
       0,
       0},
      {"top",
       "",
       "Queues, workers and rates on a screen that renews itself, until Ctrl-C.",
       {{"every", "TIME", "between two looks (1s)"}, {"once", "", "one look, without a screen"}},
       "top\ntop --every 5s",
       top,
       0,
       0},
      {"doctor", "", "Look for what keeps jobs from running, and say what to do.", doctor_flags(),
       "doctor\ndoctor --strict -o json", doctor, 0, 0},
      {"version", "", "The version of this program.", {}, "version", version, 0, 0},
      {"completion",
       "bash",
       "A script that completes verbs and flags.",
       {},
       "completion bash > ~/.local/share/bash-completion/completions/fairlead",
       completion,
       1,
       1},
  };
}

}  // namespace fairlead::cli
