#include "cli/doctor.h"

#include <cstdio>
#include <functional>

#include <fmt/core.h>

#include "cli/output.h"

namespace fairlead::cli {

namespace {

// Jobs that wait longer than this are worth a word.
constexpr double kOldSeconds = 60;

struct Finding {
  const char* verdict;  // ok, warn or fail
  std::string check;
  std::string detail;
  std::string fix;
};

using Findings = std::vector<Finding>;

void look_at_workers(const Call& call, Findings& findings) {
  const json::value topics = call.ask("GET", "/api/v1/topics");
  std::string without;
  std::string pool;
  for (const json::value& topic : items_of(topics)) {
    if (number_at(topic, "active_worker_count") > 0) continue;
    without += (without.empty() ? "" : ", ") + text_at(topic, "name");
    pool = text_at(topic, "pool");
  }
  if (without.empty()) {
    findings.push_back({"ok", "workers", "every topic has a worker", ""});
  } else {
    findings.push_back({"warn", "workers", "no worker serves " + without,
                        fmt::format("fairlead worker --pool {} -- COMMAND", pool)});
  }
}

void look_at_queues(const Call& call, Findings& findings) {
  const json::value queues = call.ask("GET", "/api/v1/queues");
  std::string old;
  for (const json::value& queue : items_of(queues)) {
    const double seconds = number_at(queue, "oldest_age_seconds");
    if (seconds < kOldSeconds) continue;
    old += fmt::format("{}{} for {}", old.empty() ? "" : ", ", text_at(queue, "topic"),
                       short_time(std::chrono::seconds(static_cast<int64_t>(seconds))));
  }
  if (old.empty()) {
    findings.push_back({"ok", "queues", "no job waits for long", ""});
  } else {
    findings.push_back({"warn", "queues", "jobs wait: " + old,
                        "fairlead job list --state PENDING, then fairlead job explain ID"});
  }
}

void look_at_dead_letters(const Call& call, Findings& findings) {
  const json::value page = call.ask("GET", "/api/v1/dlq/page?limit=500");
  const size_t count = items_of(page).size();
  if (count == 0) {
    findings.push_back({"ok", "dead letters", "none", ""});
  } else {
    const bool more = !text_at(page, "next_cursor").empty();
    findings.push_back({"warn", "dead letters",
                        fmt::format("{}{} jobs ended badly", more ? "more than " : "", count),
                        "fairlead dlq list"});
  }
}

}  // namespace

int doctor(Call& call) {
  Findings findings;
  bool there = true;
  auto look = [&](const char* check, const std::function<void()>& at) {
    if (!there) return;
    try {
      at();
    } catch (const Problem& problem) {
      findings.push_back({"fail", check, problem.message, ""});
    }
  };
  look("server", [&] {
    const Answer health = call.call("GET", "/health");
    there = health.good();
    findings.push_back({there ? "ok" : "fail", "server",
                        there ? call.client.endpoint().url + " is healthy" : health.body, ""});
  });
  if (findings.back().verdict == std::string_view("fail")) there = false;
  look("access", [&] {
    call.ask("GET", "/api/v1/status");
    findings.push_back({"ok", "access", "the API may be used", ""});
  });
  if (findings.back().verdict == std::string_view("fail")) there = false;
  look("workers", [&] { look_at_workers(call, findings); });
  look("queues", [&] { look_at_queues(call, findings); });
  look("dead letters", [&] { look_at_dead_letters(call, findings); });

  bool failed = false;
  json::array shown;
  std::string text;
  for (const Finding& finding : findings) {
    const std::string_view verdict = finding.verdict;
    failed |= verdict == "fail" || (verdict == "warn" && call.has("strict"));
    shown.push_back(json::object{{"status", verdict},
                                 {"name", finding.check},
                                 {"detail", finding.detail},
                                 {"fix", finding.fix}});
    text += fmt::format("{:<5} {:<13} {}\n", verdict, finding.check, finding.detail);
    if (!finding.fix.empty()) text += fmt::format("{:<19} → {}\n", "", finding.fix);
  }
  fmt::print("{}", call.output == Output::kJson || call.has("json") ? pretty(shown) : text);
  return failed ? kFailed : kDone;
}

}  // namespace fairlead::cli
