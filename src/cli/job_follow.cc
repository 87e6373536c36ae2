// Jobs on their way to their end.
#include <cstdio>
#include <set>

#include <fmt/core.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "cli/job_calls.h"
#include "cli/output.h"

namespace fairlead::cli {

namespace {

// A stream tells sooner, but not all: what another replica did, or what came while it broke. So the
// job is looked at too.
constexpr Duration kLookEvery = std::chrono::seconds(2);
// A stream that ends is opened again; this often in vain.
constexpr int kReopenMax = 60;

// Progress for one who looks: a line that is written over.
void show_progress(const Event& event, std::string& shown) {
  boost::system::error_code error;
  const json::value data = json::parse(event.data, error);
  if (error) return;
  if (event.name == "job.status_changed") {
    shown = text_at(data, "state");
    if (const std::string reason = text_at(data, "wait_reason"); !reason.empty()) {
      shown += " (" + reason + ")";
    }
  } else if (event.name == "job.progress") {
    const json::value& progress = member(data, "jobProgress");
    shown = fmt::format("{}% {}", static_cast<int>(number_at(progress, "percent")),
                        text_at(progress, "message"));
  }
  fmt::print(stderr, "\r\x1b[K{}", printable(shown).substr(0, 100));
}

}  // namespace

bool is_over(std::string_view state) {
  static const std::set<std::string_view> over{"SUCCEEDED", "FAILED", "CANCELLED",
                                               "TIMEOUT",   "DENIED", "OUTPUT_QUARANTINED"};
  return over.contains(state);
}

int exit_code_of(std::string_view state) {
  if (state == "SUCCEEDED") return kDone;
  if (state == "DENIED") return kDenied;
  if (state == "TIMEOUT") return kTimedOut;
  return kFailed;
}

std::string follow(const Call& call, const std::string& job, Duration at_most,
                   const std::function<void(const Event&)>& show) {
  std::string state, last_event;
  const bool bounded = at_most > Duration::zero();
  const MonotonicTime end = call.clock.monotonic() + at_most;
  int in_vain = 0;
  auto take = [&](const Event& event) {
    in_vain = 0;
    last_event = event.id;
    boost::system::error_code error;
    const json::value data = json::parse(event.data, error);
    if (!error && event.name == "job.status_changed") state = text_at(data, "state");
    show(event);
    return !is_over(state);
  };
  while (!is_over(state)) {
    const Duration left = bounded ? end - call.clock.monotonic() : Duration::max();
    if (left <= Duration::zero()) {
      throw Problem{kTimedOut, fmt::format("job {} is still {} after {}", job,
                                           state.empty() ? "unknown" : state, short_time(at_most))};
    }
    const Duration slice = std::min(left, kLookEvery);
    auto answer = call.client.stream(job_path(job, "/stream"), last_event, slice, take, left);
    if (answer && !answer->good()) call.refuse(*answer);
    if (!answer && answer.error().why == NoAnswer::Why::kTimeOver) {
      auto looked = call.client.call("GET", job_path(job), {}, left);
      boost::system::error_code error;
      const json::value now = json::parse(looked ? looked->body : "", error);
      if (looked && looked->good() && !error) state = text_at(now, "state");
      continue;
    }
    if (is_over(state)) break;
    // The server may be restarting.
    if (++in_vain > kReopenMax || (!answer && last_event.empty())) {
      call.no_server(answer ? NoAnswer{NoAnswer::Why::kNobody, "the stream ended"}
                            : answer.error());
    }
    call.client.pause(std::min(left, Duration(std::chrono::milliseconds(250))));
  }
  return state;
}

std::string follow_with_progress(const Call& call, const std::string& job) {
  const bool seen = ::isatty(STDERR_FILENO) == 1;
  std::string shown;
  const std::string state =
      follow(call, job, call.duration("timeout", Duration::zero()), [&](const Event& event) {
        if (seen) show_progress(event, shown);
      });
  if (seen) fmt::print(stderr, "\r\x1b[K");
  return state;
}

int show_end(const Call& call, const std::string& job, const std::string& state) {
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(call.ask("GET", job_path(job))));
  } else if (call.output == Output::kTable) {
    fmt::print("{}\n", state);
    std::fflush(stdout);
    if (state != "SUCCEEDED") {
      const json::value found = call.ask("GET", job_path(job));
      std::string message;
      for (const char* field : {"error_message", "failure_reason", "safety_reason"}) {
        if (message.empty()) message = text_at(found, field);
      }
      if (!message.empty()) {
        fmt::print(stderr, "{}: {}\n", call.dialect.program, printable(message));
      }
    }
  }
  return exit_code_of(state);
}

}  // namespace fairlead::cli
