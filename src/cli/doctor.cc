#include "cli/doctor.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/output.h"

namespace fairlead::cli {

namespace {

using namespace std::chrono_literals;

// Jobs that wait longer than this are worth a word.
constexpr double kOldSeconds = 60;
// How long something that was put right may take to show it.
constexpr Duration kFixedWithin = 5s;

enum class State { kOk, kWarn, kFail, kSkip };

const char* to_string(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kWarn:
      return "warn";
    case State::kFail:
      return "fail";
    case State::kSkip:
      return "skip";
  }
  return "";
}

struct Finding {
  State state = State::kOk;
  std::string detail;
  std::string fix;
  Duration took{};
};

// What one look learned for those after it.
struct Patient {
  const Call& call;
  json::value status;
  bool answers = false;
  bool lets_us_in = false;
};

// What would start a server there, which a shell may be given; "" when nothing that is known would.
std::string server_for(const std::string& url) {
  for (const std::string_view here : {"http://localhost", "http://127.0.0.1"}) {
    if (!url.starts_with(here)) continue;
    std::string_view rest = std::string_view(url).substr(here.size());
    while (rest.ends_with('/')) rest.remove_suffix(1);
    if (!rest.starts_with(':')) return "";  // port 80, or another host
    rest.remove_prefix(1);
    if (rest.empty() || rest.find_first_not_of("0123456789") != rest.npos) return "";
    return fmt::format("fairlead up {}>>fairlead.log 2>&1 &",
                       rest == "8081" ? "" : fmt::format("--listen-api 127.0.0.1:{} ", rest));
  }
  return "";
}

Finding look_at_server(Patient& patient) {
  const std::string& url = patient.call.client.endpoint().url;
  auto health = patient.call.client.call("GET", "/readyz");
  if (!health) {
    const bool absent = health.error().why == NoAnswer::Why::kNobody;
    return {State::kFail, no_server_line(patient.call.dialect, url, health.error()),
            absent ? server_for(url) : ""};
  }
  patient.answers = health->good();
  if (patient.answers) return {State::kOk, url + " is ready", ""};
  return {State::kFail, fmt::format("{} answers {}: {}", url, health->status, health->body), ""};
}

Finding look_at_access(Patient& patient) {
  patient.status = patient.call.ask("GET", "/api/v1/status");
  patient.lets_us_in = true;
  return {State::kOk, "the API may be used", ""};
}

Finding look_at_bus(Patient& patient) {
  const json::value& bus = member(patient.status, "nats");
  const bool good = text_at(bus, "connected") == "true";
  return {good ? State::kOk : State::kFail, text_at(bus, "status"), ""};
}

Finding look_at_store(Patient& patient) {
  const json::value& store = member(patient.status, "redis");
  const bool good = text_at(store, "ok") == "true";
  return {good ? State::kOk : State::kFail, text_at(store, "status"), ""};
}

Finding look_at_version(Patient& patient) {
  const std::string theirs = text_at(member(patient.status, "build"), "version");
  const std::string& ours = patient.call.dialect.build.version;
  if (theirs == ours) return {State::kOk, "both are " + theirs, ""};
  return {State::kWarn, fmt::format("this program is {}, the server {}", ours, theirs), ""};
}

Finding look_at_workers(Patient& patient) {
  if (patient.call.has("skip-workers")) return {State::kSkip, "by --skip-workers", ""};
  const json::value topics = patient.call.ask("GET", "/api/v1/topics");
  std::string without;
  std::set<std::string> pools;
  for (const json::value& topic : items_of(topics)) {
    if (number_at(topic, "active_worker_count") > 0) continue;
    without += (without.empty() ? "" : ", ") + text_at(topic, "name");
    pools.insert(text_at(topic, "pool"));
  }
  if (without.empty()) return {State::kOk, "every topic has a worker", ""};
  std::string fix;
  for (const std::string& pool : pools) {
    fix += fmt::format("{}fairlead worker --pool {} -- COMMAND", fix.empty() ? "" : "\n", pool);
  }
  return {State::kWarn, "no worker serves " + without, std::move(fix)};
}

// Workers that nothing is led to.
Finding look_at_pools(Patient& patient) {
  if (patient.call.has("skip-workers")) return {State::kSkip, "by --skip-workers", ""};
  std::set<std::string> used, idle;
  for (const json::value& topic : items_of(patient.call.ask("GET", "/api/v1/topics"))) {
    const json::value& pools = member(topic, "pools");
    used.insert(text_at(topic, "pool"));
    if (!pools.is_array()) continue;
    for (const json::value& pool : pools.get_array()) {
      if (pool.is_string()) used.emplace(pool.get_string());
    }
  }
  for (const json::value& worker : patient.call.ask_list("/api/v1/workers?limit=500", true)) {
    const std::string pool = text_at(worker, "pool");
    if (!used.contains(pool)) idle.insert(pool);
  }
  if (idle.empty()) return {State::kOk, "every worker's pool has a topic", ""};
  std::string fix;
  for (const std::string& pool : idle) {
    fix += fmt::format("{}fairlead topic create job.NAME --pool {}", fix.empty() ? "" : "\n", pool);
  }
  return {State::kWarn,
          fmt::format("workers wait in pools that no topic uses: {}", fmt::join(idle, ", ")),
          std::move(fix)};
}

Finding look_at_queues(Patient& patient) {
  const json::value queues = patient.call.ask("GET", "/api/v1/queues");
  std::string old;
  for (const json::value& queue : items_of(queues)) {
    const double seconds = number_at(queue, "oldest_age_seconds");
    if (seconds < kOldSeconds) continue;
    old += fmt::format("{}{} for {}", old.empty() ? "" : ", ", text_at(queue, "topic"),
                       short_time(std::chrono::seconds(static_cast<int64_t>(seconds))));
  }
  if (old.empty()) return {State::kOk, "no job waits for long", ""};
  return {State::kWarn, "jobs wait: " + old,
          "fairlead job list --state PENDING, then fairlead job explain ID"};
}

Finding look_at_dead_letters(Patient& patient) {
  const json::value page = patient.call.ask("GET", "/api/v1/dlq/page?limit=500");
  const size_t count = items_of(page).size();
  if (count == 0) return {State::kOk, "none", ""};
  const bool more = !text_at(page, "next_cursor").empty();
  return {State::kWarn, fmt::format("{}{} jobs ended badly", more ? "more than " : "", count),
          "fairlead dlq list"};
}

struct Check {
  const char* id;
  const char* label;
  const char* asks;
  Finding (*look)(Patient&);
  bool Patient::* needs = nullptr;  // else it is skipped
};

constexpr auto kChecks = std::to_array<Check>({
    {"gateway_reachable", "server", "GET /readyz", look_at_server},
    {"gateway_auth", "access", "GET /api/v1/status", look_at_access, &Patient::answers},
    {"nats_connected", "bus", "GET /api/v1/status", look_at_bus, &Patient::lets_us_in},
    {"redis_ok", "store", "GET /api/v1/status", look_at_store, &Patient::lets_us_in},
    {"version_skew", "version", "GET /api/v1/status", look_at_version, &Patient::lets_us_in},
    {"workers_registered", "workers", "GET /api/v1/topics", look_at_workers, &Patient::lets_us_in},
    {"pools_used", "pools", "GET /api/v1/workers", look_at_pools, &Patient::lets_us_in},
    {"queues_moving", "queues", "GET /api/v1/queues", look_at_queues, &Patient::lets_us_in},
    {"dead_letters", "dead letters", "GET /api/v1/dlq/page", look_at_dead_letters,
     &Patient::lets_us_in},
});

using Findings = std::array<Finding, kChecks.size()>;

Findings look_at_all(const Call& call) {
  Patient patient{call, nullptr};
  Findings findings;
  for (size_t i = 0; i < kChecks.size(); ++i) {
    const Check& check = kChecks[i];
    if (check.needs && !(patient.*check.needs)) {
      findings[i] = {State::kSkip, "what it needs failed", ""};
      continue;
    }
    const MonotonicTime began = call.clock.monotonic();
    try {
      findings[i] = check.look(patient);
    } catch (const Problem& problem) {
      // What the key may not see says nothing of the server.
      const bool hidden = problem.denied && check.needs == &Patient::lets_us_in;
      findings[i] = {hidden ? State::kSkip : State::kFail, problem.message, ""};
    }
    findings[i].took = call.clock.monotonic() - began;
  }
  return findings;
}

// Offers what would put a failure right, one after the other, and looks again after each.
void offer_fixes(const Call& call, Findings& findings) {
  for (size_t i = 0; i < kChecks.size(); ++i) {
    if (findings[i].state != State::kFail || findings[i].fix.empty()) continue;
    const std::string fix = findings[i].fix;
    fmt::print("{}: {}\n  {}\nrun it now? [y/N/a(bort)] ", kChecks[i].label, findings[i].detail,
               fix);
    std::fflush(stdout);
    std::string answer;
    if (!std::getline(std::cin, answer) || answer == "a") return;
    if (answer != "y") continue;
    (void)std::system(fix.c_str());
    const MonotonicTime until = call.clock.monotonic() + kFixedWithin;
    do {
      call.client.pause(100ms);
      findings = look_at_all(call);
    } while (findings[i].state == State::kFail && call.clock.monotonic() < until);
  }
}

std::string shown(const Findings& findings, bool verbose) {
  std::string text;
  for (size_t i = 0; i < kChecks.size(); ++i) {
    const Finding& finding = findings[i];
    text += fmt::format("{:<5} {:<13} {}\n", to_string(finding.state), kChecks[i].label,
                        finding.detail);
    for (std::string_view fix : split(finding.fix, '\n')) {
      if (!fix.empty()) text += fmt::format("{:<19} → {}\n", "", fix);
    }
    if (verbose) {
      text += fmt::format("{:<19} {}: {}, {} ms\n", "", kChecks[i].id, kChecks[i].asks,
                          finding.took / 1ms);
    }
  }
  return text;
}

json::value as_json(const Findings& findings, int exit_code) {
  json::array checks;
  json::object summary{{"ok", 0}, {"warn", 0}, {"fail", 0}, {"skip", 0}};
  for (size_t i = 0; i < kChecks.size(); ++i) {
    const char* state = to_string(findings[i].state);
    summary[state] = summary[state].as_int64() + 1;
    checks.push_back(json::object{{"id", kChecks[i].id},
                                  {"label", kChecks[i].label},
                                  {"state", state},
                                  {"detail", findings[i].detail},
                                  {"fix", findings[i].fix}});
  }
  return json::object{
      {"checks", std::move(checks)}, {"summary", std::move(summary)}, {"exitCode", exit_code}};
}

}  // namespace

std::vector<Flag> doctor_flags() {
  return {{"verbose", "", "with what was asked, and how long it took"},
          {"strict", "", "what is worth a word counts as a failure"},
          {"timeout", "TIME", "for each question (15s)"},
          {"skip-workers", "", "do not look for workers"},
          {"fix", "", "offer to run what would put a failure right"}};
}

int doctor(Call& call) {
  const bool wants_json = call.output == Output::kJson || call.has("json");
  if (wants_json && call.has("fix")) {
    throw Problem{kUsage, "--fix asks questions: it does not go with JSON"};
  }
  Endpoint endpoint = call.client.endpoint();
  endpoint.patience = call.duration("timeout", endpoint.patience);
  HttpClient client(endpoint);
  const Call asking{call.dialect, client, call.clock, call.words, call.flags, call.output};
  Findings findings = look_at_all(asking);
  if (call.has("fix")) offer_fixes(asking, findings);

  bool failed = false;
  for (const Finding& finding : findings) {
    failed |=
        finding.state == State::kFail || (finding.state == State::kWarn && call.has("strict"));
  }
  const int exit_code = failed ? kFailed : kDone;
  fmt::print("{}", wants_json ? pretty(as_json(findings, exit_code))
                              : shown(findings, call.has("verbose")));
  return exit_code;
}

}  // namespace fairlead::cli
