// job submit, status, list, cancel, wait, watch, logs, explain.
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "cli/job_calls.h"
#include "cli/output.h"
#include "cli/placement_text.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

std::string shown_at(const Call& call, const json::value& job, const char* name) {
  const std::string ago = age(call.clock.wall(), number_at(job, name));
  return ago.empty() ? "" : ago + " ago";
}

// The first word between quotes: the pool that a message is about.
std::string quoted_in(const std::string& message, const char* otherwise) {
  const size_t begin = message.find('"');
  const size_t end = begin == message.npos ? begin : message.find('"', begin + 1);
  return end == message.npos ? otherwise : message.substr(begin + 1, end - begin - 1);
}

void note_warnings(const Call& call, const json::value& answer) {
  const json::value& warnings = member(answer, "warnings");
  if (!warnings.is_array()) return;
  for (const json::value& warning : warnings.get_array()) {
    const std::string code = text_at(warning, "code");
    std::string line = fmt::format("it waits: {} ({})", text_at(warning, "message"), code);
    if (code == "no_workers") {
      line += fmt::format("; start a worker: fairlead worker --pool {} -- cat",
                          quoted_in(text_at(warning, "message"), "default"));
    } else if (code == "no_pool_mapping") {
      line += fmt::format("; map it: {} topic create {} --pool default", call.dialect.program,
                          call.flag("topic", "job.default"));
    }
    fmt::print(stderr, "{}: {}\n", call.dialect.program, printable(line));
  }
}

// --- submit --------------------------------------------------------------------------------------

int wait_and_show(Call& call, const std::string& job);

int submit(Call& call) {
  const std::string prompt = call.has("prompt")   ? call.flag("prompt")
                             : call.words.empty() ? ""
                                                  : call.words[0];
  if (prompt.empty()) {
    throw Problem{kUsage, "a prompt is missing: fairlead job submit \"what to do\""};
  }
  const Answer answer = call.call("POST", "/api/v1/jobs", submit_body(call, prompt));
  if (!answer.good()) call.refuse(answer);
  const json::value body = json::parse(answer.body);
  const std::string job = text_at(body, "job_id");
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(body));
  } else {
    fmt::print("{}\n", job);
  }
  std::fflush(stdout);
  if (call.output != Output::kId) note_warnings(call, body);
  return call.has("wait") ? wait_and_show(call, job) : kDone;
}

// --- status, list --------------------------------------------------------------------------------

int status(Call& call) {
  const json::value job = call.ask("GET", job_path(call.words[0]));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(job));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", text_at(job, "id"));
  } else {
    const json::value& wait = member(job, "wait");
    std::string waits = text_at(wait, "reason");
    if (const std::string detail = text_at(wait, "detail"); !detail.empty()) {
      waits += ": " + detail;
    }
    fmt::print("{}", listing({{"Id", text_at(job, "id")},
                              {"State", text_at(job, "state")},
                              {"Waits for", waits},
                              {"Topic", text_at(job, "topic")},
                              {"Tenant", text_at(job, "tenant")},
                              {"Worker", text_at(job, "worker_id")},
                              {"Attempts", text_at(job, "attempts")},
                              {"Created", shown_at(call, job, "created_at")},
                              {"Started", shown_at(call, job, "started_at")},
                              {"Finished", shown_at(call, job, "finished_at")},
                              {"Error", text_at(job, "error_message")},
                              {"Error code", text_at(job, "error_code")},
                              {"Trace", text_at(job, "trace_id")}}));
  }
  return kDone;
}

int list(Call& call) {
  std::string query = "?limit=" + std::to_string(std::min<int64_t>(call.number("limit", 50), 500));
  for (const char* name : {"topic", "trace"}) {
    if (!call.has(name)) continue;
    const std::string_view field = std::string_view(name) == "trace" ? "trace_id" : name;
    query += fmt::format("&{}={}", field, percent_encoded(call.flag(name)));
  }
  for (const std::string& state : call.list("state")) query += "&state=" + percent_encoded(state);
  const json::array all = call.ask_list("/api/v1/jobs" + query, call.has("all"));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(all));
  } else if (call.output == Output::kId) {
    for (const json::value& job : all) fmt::print("{}\n", text_at(job, "id"));
  } else {
    Table table({"ID", "STATE", "TOPIC", "WORKER", "ATTEMPTS", "CHANGED"});
    for (const json::value& job : all) {
      table.add({text_at(job, "id"), text_at(job, "state"), text_at(job, "topic"),
                 text_at(job, "worker_id"), text_at(job, "attempts"),
                 shown_at(call, job, "updated_at")});
    }
    fmt::print("{}", table.text());
  }
  return kDone;
}

// --- cancel --------------------------------------------------------------------------------------

int cancel_by_filter(Call& call) {
  json::object filter;
  if (call.has("topic")) filter["topic"] = call.flag("topic");
  if (call.has("state")) {
    json::array states;
    for (const std::string& state : call.list("state")) states.emplace_back(state);
    filter["state"] = std::move(states);
  }
  json::object body{{"filter", std::move(filter)},
                    {"dry_run", call.has("dry-run")},
                    {"max", call.number("max", 100)}};
  if (call.has("reason")) body["reason"] = call.flag("reason");
  const json::value answer = call.ask("POST", "/api/v1/jobs/cancel", body);
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(answer));
  } else if (call.output == Output::kId || call.has("dry-run")) {
    for (const json::value& job : member(answer, "job_ids").as_array()) {
      fmt::print("{}\n", std::string_view(job.as_string()));
    }
  } else {
    fmt::print("{} of {} cancelled\n", text_at(answer, "cancelled"), text_at(answer, "matched"));
  }
  if (text_at(answer, "more") == "true")
    fmt::print(stderr, "there are more: give a larger --max\n");
  return kDone;
}

int cancel(Call& call) {
  const bool by_filter = call.has("all") || call.has("topic") || call.has("state");
  if (by_filter == !call.words.empty()) {
    throw Problem{kUsage, "name jobs, or choose them with --topic, --state or --all"};
  }
  if (by_filter) return cancel_by_filter(call);
  int exit_code = kDone;
  for (const std::string& job : call.words) {
    json::object body;
    if (call.has("reason")) body["reason"] = call.flag("reason");
    const json::value answer = call.ask("POST", job_path(job, "/cancel"), body);
    const bool was_over = !text_at(answer, "reason").empty();
    if (was_over) exit_code = kFailed;
    if (call.output == Output::kJson) {
      fmt::print("{}", pretty(answer));
    } else if (call.output == Output::kId) {
      fmt::print("{}\n", job);
    } else {
      fmt::print("{} {}{}\n", job, text_at(answer, "state"), was_over ? " already" : "");
    }
  }
  return exit_code;
}

// --- wait, watch, logs ---------------------------------------------------------------------------

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

int wait_and_show(Call& call, const std::string& job) {
  const bool seen = ::isatty(STDERR_FILENO) == 1;
  std::string shown;
  const std::string state =
      follow(call, job, call.duration("timeout", Duration::zero()), [&](const Event& event) {
        if (seen) show_progress(event, shown);
      });
  if (seen) fmt::print(stderr, "\r\x1b[K");
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(call.ask("GET", job_path(job))));
  } else if (call.output == Output::kTable) {
    fmt::print("{}\n", state);
    std::fflush(stdout);
    if (state != "SUCCEEDED") {
      const std::string message = text_at(call.ask("GET", job_path(job)), "error_message");
      if (!message.empty()) fmt::print(stderr, "{}: {}\n", call.dialect.program, message);
    }
  }
  return exit_code_of(state);
}

int wait(Call& call) {
  return wait_and_show(call, call.words[0]);
}

int watch(Call& call) {
  const std::string state = follow(
      call, call.words[0], call.duration("timeout", Duration::zero()), [&](const Event& event) {
        fmt::print("{}", event_line(event, call.output == Output::kJson));
        std::fflush(stdout);
      });
  return exit_code_of(state);
}

int logs(Call& call) {
  return show_result(call, call.words[0]);
}

// --- explain -------------------------------------------------------------------------------------

int explain(Call& call) {
  const json::value placement = call.ask("GET", job_path(call.words[0], "/placement"));
  const json::value timeline = call.ask("GET", job_path(call.words[0], "/timeline"));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(json::object{{"placement", placement}, {"timeline", timeline}}));
    return kDone;
  }
  if (call.output == Output::kId) {
    fmt::print("{}\n", call.words[0]);
    return kDone;
  }
  Table steps({"TIME", "STATE", "EPOCH", "NOTE"});
  for (const json::value& step : items_of(timeline)) {
    steps.add({text_at(step, "time"), text_at(step, "state"), text_at(step, "epoch"),
               text_at(step, "note")});
  }
  fmt::print("{}\n{}", steps.text(), placement_text(placement));
  return kDone;
}

const std::vector<Flag> kSubmitFlags{
    {"topic", "TOPIC", "what kind of job (job.default)"},
    {"prompt", "TEXT", "what to do; may also stand as a word"},
    {"input", "JSON", "context for the worker: JSON, a file, or - for standard input"},
    {"label", "NAME=VALUE", "may be given several times"},
    {"labels", "JSON", "labels as an object"},
    {"requires", "A,B", "what the pool must offer"},
    {"risk-tags", "A,B", "for policy"},
    {"capability", "NAME", "for policy"},
    {"pack-id", "ID", "the pack that submits"},
    {"org", "ID", "the organisation"},
    {"actor-id", "ID", "who asks"},
    {"actor-type", "TYPE", "human or service"},
    {"priority", "P", "interactive, batch or critical"},
    {"deadline", "TIME", "how long it may take: 500ms, 30s, 5m"},
    {"idempotency-key", "KEY", "the same key again answers with the first job"},
    {"wait", "", "until it has ended"},
    {"timeout", "TIME", "with --wait: give up after this"},
};

}  // namespace

std::vector<Verb> job_verbs() {
  return {
      {"job submit", "[PROMPT]", "Submit a job; prints its id.", kSubmitFlags,
       "job submit \"say hello\"\n"
       "job submit --topic job.train --input data.json --label zone=a --wait \"train it\"\n"
       "job submit -o json --idempotency-key order-7 \"pack order 7\"",
       submit, 0, 1},
      {"job status",
       "ID",
       "Everything about one job.",
       {},
       "job status 3f0c…\njob status 3f0c… -o json",
       status,
       1,
       1},
      {"job list",
       "",
       "Jobs, the one that changed last first.",
       {{"state", "A,B", "in these states"},
        {"topic", "TOPIC", "of this topic"},
        {"trace", "ID", "of this trace"},
        {"limit", "N", "at most (50)"},
        {"all", "", "every page"}},
       "job list\njob list --state PENDING,RUNNING --topic job.default\njob list --state FAILED -o "
       "id",
       list,
       0,
       0},
      {"job cancel",
       "[ID…]",
       "Cancel jobs, by name or by what they are.",
       {{"reason", "TEXT", "why"},
        {"topic", "TOPIC", "live jobs of this topic"},
        {"state", "A,B", "jobs in these states"},
        {"all", "", "every live job"},
        {"max", "N", "at most (100)"},
        {"dry-run", "", "only say which"}},
       "job cancel 3f0c…\njob cancel --topic job.default --dry-run\njob cancel --all --max 1000",
       cancel,
       0,
       1000},
      {"job wait",
       "ID",
       "Wait for the end of a job; exits with 0, 1, 3 (denied) or 4 (timed out).",
       {{"timeout", "TIME", "give up after this"}},
       "job wait 3f0c…\njob wait 3f0c… --timeout 30s && echo done",
       wait,
       1,
       1},
      {"job watch",
       "ID",
       "Show what happens to a job, until its end.",
       {{"timeout", "TIME", "give up after this"}},
       "job watch 3f0c…\njob watch 3f0c… -o json",
       watch,
       1,
       1},
      {"job logs", "ID", "The result of a job, or its error.", {}, "job logs 3f0c…", logs, 1, 1},
      {"job explain",
       "ID",
       "What a job went through, and why it is where it is.",
       {},
       "job explain 3f0c…",
       explain,
       1,
       1},
  };
}

}  // namespace fairlead::cli
