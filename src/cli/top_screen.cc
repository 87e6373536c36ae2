#include "cli/top_screen.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.h"

namespace fairlead::cli {

std::string fitted(std::string_view text, size_t rows, size_t columns) {
  std::string out;
  size_t begin = 0;
  for (size_t row = 0; begin < text.size() && row < rows; ++row) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    size_t characters = 0;
    for (char c : text.substr(begin, end - begin)) {
      characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      if (characters > columns) break;
      out += c;
    }
    out += "\x1b[K\r\n";
    begin = end + 1;
  }
  return out;
}

namespace {

// To the terminal, if that says how large it is.
std::string for_terminal(const std::string& text) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  const size_t all = text.size();
  return known ? fitted(text, size.ws_row - 1u, size.ws_col) : fitted(text, all, all);
}

using Number = std::optional<double>;

Number said(const json::value& value, std::string_view name) {
  if (!member(value, name).is_number()) return std::nullopt;
  return number_at(value, name);
}

std::string shown(Number number) {
  return number ? fmt::format("{}", *number) : "-";
}

// Of counts by state, where a state that is not named has none.
Number sum(const json::value& counts, std::initializer_list<std::string_view> states) {
  if (!counts.is_object()) return std::nullopt;
  double total = 0;
  for (std::string_view state : states) total += number_at(counts, state);
  return total;
}

std::string rate(Number now, Number before, double seconds) {
  if (!now || !before || seconds <= 0) return "-";
  return fmt::format("{:.1f}/s", std::max(0.0, *now - *before) / seconds);
}

}  // namespace

std::string TopScreen::draw(const json::value& status, const json::value& queues,
                            const json::value& workers, MonotonicTime now) {
  const double seconds =
      drawn_ == MonotonicTime{} ? 0 : std::chrono::duration<double>(now - drawn_).count();
  drawn_ = now;
  const json::value& jobs = member(status, "pipeline");
  const auto up = std::chrono::seconds(static_cast<int64_t>(number_at(status, "uptime_seconds")));
  std::string out = fmt::format(
      "fairlead {}  up {}  workers {}  running {}  pending {}  succeeded {}  failed {}\n\n",
      text_at(member(status, "build"), "version"), short_time(up),
      shown(said(member(status, "workers"), "count")), shown(sum(jobs, {"running", "dispatched"})),
      shown(sum(jobs, {"pending", "scheduled", "retrying"})), shown(said(jobs, "succeeded")),
      shown(said(jobs, "failed")));

  Table topics({"TOPIC", "WAITING", "RUNNING", "OLDEST", "IN", "OUT", "DONE"});
  for (const json::value& queue : items_of(queues)) {
    const json::value& counts = member(queue, "counts");
    const Number received = said(queue, "received_total");
    const Number completed = said(queue, "completed_total");
    Seen& before = before_[text_at(queue, "topic")];
    const Number waiting = sum(counts, {"PENDING", "SCHEDULED", "RETRYING"});
    const auto oldest =
        std::chrono::seconds(static_cast<int64_t>(number_at(queue, "oldest_age_seconds")));
    topics.add({text_at(queue, "topic"), shown(waiting),
                shown(sum(counts, {"RUNNING", "DISPATCHED"})),
                waiting > 0.0 ? short_time(oldest) : "-", rate(received, before.received, seconds),
                rate(completed, before.completed, seconds), shown(completed)});
    before = {received, completed};
  }
  out += topics.text() + "\n";

  Table table({"WORKER", "POOL", "JOBS", "CPU", "MEMORY", "HEARD"});
  for (const json::value& worker : items_of(workers)) {
    const auto heard = std::chrono::milliseconds(
        static_cast<int64_t>(number_at(worker, "heartbeat_age_seconds") * 1000));
    table.add({text_at(worker, "worker_id"), text_at(worker, "pool"),
               text_at(worker, "load") + "/" + text_at(worker, "max_parallel_jobs"),
               fmt::format("{:.0f}%", number_at(worker, "cpu_load")),
               fmt::format("{:.0f}%", number_at(worker, "memory_load")),
               short_time(heard) + " ago"});
  }
  return out + table.text();
}

namespace {

// Whether what moves the cursor is understood there.
bool is_screen() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && kind && *kind && std::string_view(kind) != "dumb";
}

}  // namespace

int top(Call& call) {
  TopScreen screen;
  const bool on_screen = is_screen();
  const Duration every = std::max(call.duration("every", std::chrono::seconds(1)),
                                  Duration(std::chrono::milliseconds(100)));
  bool drawn = false, told = false;
  for (;; call.client.pause(every)) {
    std::string picture;
    try {
      const json::value status = call.ask("GET", "/api/v1/status");
      const json::value queues = call.ask("GET", "/api/v1/queues");
      const json::value workers = call.ask("GET", "/api/v1/workers?limit=200");
      picture = screen.draw(status, queues, workers, call.clock.monotonic());
    } catch (const Problem& problem) {
      // One that was there may be restarting.
      if (!drawn || problem.denied) throw;
      if (!std::exchange(told, true)) {
        fmt::print(stderr, "{}: the server does not answer; waiting for it\n",
                   call.dialect.program);
      }
      continue;
    }
    drawn = true;
    told = false;
    if (call.has("once")) {
      fmt::print("{}", picture);
      return kDone;
    }
    if (on_screen) {
      // Home, the picture line by line, and away with what was below it.
      fmt::print("\x1b[H{}\x1b[J", for_terminal(picture));
    } else {
      fmt::print("{}\n", picture);
    }
    std::fflush(stdout);
  }
}

}  // namespace fairlead::cli
