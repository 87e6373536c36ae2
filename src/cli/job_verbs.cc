// job submit, status, list, cancel; those that look at one job are in job_look_verbs.cc.
#include <cstdio>

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "cli/bulk.h"
#include "cli/job_calls.h"
#include "cli/output.h"
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

// What a warning says of the job; of some servers only its code tells.
const char* begin_of(const std::string& code, const std::string& state) {
  if (state == "FAILED" || code == "no_pool_mapping") return "it failed: ";
  return state.empty() && code == "idempotency_mismatch" ? "" : "it waits: ";
}

void note_warnings(const Call& call, const json::value& answer) {
  const json::value& warnings = member(answer, "warnings");
  if (!warnings.is_array()) return;
  for (const json::value& warning : warnings.get_array()) {
    const std::string code = text_at(warning, "code");
    std::string line = fmt::format("{}{} ({})", begin_of(code, text_at(warning, "state")),
                                   text_at(warning, "message"), code);
    if (code == "no_workers") {
      line += fmt::format("; start a worker: fairlead worker --pool {} -- cat",
                          quoted_in(text_at(warning, "message"), "default"));
    }
    fmt::print(stderr, "{}: {}\n", call.dialect.program, printable(line));
  }
}

// --- submit --------------------------------------------------------------------------------------

int submit(Call& call) {
  const std::string prompt = call.has("prompt")   ? call.flag("prompt")
                             : call.words.empty() ? ""
                                                  : call.words[0];
  if (prompt.empty()) {
    throw Problem{kUsage, "a prompt is missing: fairlead job submit \"what to do\""};
  }
  const bool waits = call.has("wait");
  if (call.has("timeout") && !waits) throw Problem{kUsage, "--timeout goes with --wait"};
  call.duration("timeout", {});  // wrong words are said before there is a job
  const Answer answer = call.call("POST", "/api/v1/jobs", submit_body(call, prompt));
  if (!answer.good()) call.refuse(answer);
  const json::value body = json::parse(answer.body);
  const std::string job = text_at(body, "job_id");
  const bool as_json = call.output == Output::kJson;
  if (!as_json) fmt::print("{}\n", job);
  if (as_json && !waits) fmt::print("{}", pretty(body));
  std::fflush(stdout);
  if (call.output != Output::kId) note_warnings(call, body);
  if (!waits) return kDone;
  try {
    return show_end(call, job, follow_with_progress(call, job));
  } catch (const Problem&) {
    if (as_json) fmt::print("{}", pretty(body));  // or nobody would know its id
    throw;
  }
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
                              {"Reason", text_at(job, "failure_reason")},
                              {"Error", text_at(job, "error_message")},
                              {"Error code", text_at(job, "error_code")},
                              {"Trace", text_at(job, "trace_id")}}));
  }
  return kDone;
}

int list(Call& call) {
  std::string query = "?limit=" + std::to_string(std::min<int64_t>(call.count("limit", 50), 500));
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
  json::object body{{"filter", std::move(filter)}};
  if (call.has("reason")) body["reason"] = call.flag("reason");
  return run_bulk(call, {"/api/v1/jobs/cancel", std::move(body), "cancelled", "cancelled"});
}

int cancel(Call& call) {
  const bool by_filter = call.has("all") || call.has("topic") || call.has("state");
  if (by_filter == !call.words.empty()) {
    throw Problem{kUsage, "name jobs, or choose them with --topic, --state or --all"};
  }
  if (by_filter) return cancel_by_filter(call);
  bool any_over = false;
  const int exit_code = call.for_each_word([&](const std::string& job) {
    json::object body;
    if (call.has("reason")) body["reason"] = call.flag("reason");
    json::value answer = call.ask("POST", job_path(job, "/cancel"), body);
    const bool was_over = text_at(answer, "reason") == "job already terminal";
    any_over |= was_over;
    if (call.output == Output::kId) fmt::print("{}\n", job);
    if (call.output == Output::kTable) {
      fmt::print("{} {}{}\n", job, text_at(answer, "state"), was_over ? " already" : "");
    }
    return answer;
  });
  return exit_code == kDone && any_over ? kFailed : exit_code;
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
  };
}

}  // namespace fairlead::cli
