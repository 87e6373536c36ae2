// job wait, watch, logs, explain.
#include <cstdio>

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "cli/job_calls.h"
#include "cli/output.h"
#include "cli/placement_text.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

int wait(Call& call) {
  return show_end(call, call.words[0], follow_with_progress(call, call.words[0]));
}

int watch(Call& call) {
  const std::string state = follow(
      call, call.words[0], call.duration("timeout", Duration::zero()), [&](const Event& event) {
        fmt::print("{}", event_line(event, call.output == Output::kJson));
        std::fflush(stdout);
      });
  return exit_code_of(state);
}

// --- logs ----------------------------------------------------------------------------------------

// The bytes, as the worker stored them: nothing is added, nothing is made readable.
int logs(Call& call) {
  if (call.output != Output::kTable) {
    throw Problem{kUsage, "job logs prints what was stored: it has no other --output"};
  }
  const Answer answer = call.call("GET", job_path(call.words[0], "/result"));
  if (answer.good()) {
    std::fwrite(answer.body.data(), 1, answer.body.size(), stdout);
    return kDone;
  }
  boost::system::error_code error;
  const json::value problem = json::parse(answer.body, error);
  const std::string reason = error ? "" : text_at(problem, "error_message");
  // The job's own words say more than that it has no result.
  if (!reason.empty()) throw Problem{kFailed, reason};
  call.refuse(answer);
}

// --- explain -------------------------------------------------------------------------------------

bool is_out(std::string_view state) {
  return state == "DISPATCHED" || state == "RUNNING";
}

// Of a job that has gone to a worker, or ended: where it went. It is not asked where it would go.
std::string where_it_went(const json::value& placement, const json::value& timeline) {
  const std::string state = text_at(placement, "state");
  const std::string worker = text_at(placement, "worker_id");
  uint64_t epoch = 0;
  for (const json::value& step : items_of(timeline)) {
    epoch = std::max(epoch, static_cast<uint64_t>(number_at(step, "epoch")));
  }
  if (epoch == 0 || worker.empty())
    return fmt::format("{}, without having been with a worker\n", state);
  return is_out(state) ? fmt::format("Runs on {} (epoch {})\n", worker, epoch)
                       : fmt::format("{}, ran on {} (epoch {})\n", state, worker, epoch);
}

int explain(Call& call) {
  json::value placement = call.ask("GET", job_path(call.words[0], "/placement"));
  const json::value timeline = call.ask("GET", job_path(call.words[0], "/timeline"));
  const std::string state = text_at(placement, "state");
  const bool waits = !is_over(state) && !is_out(state);
  if (call.output == Output::kJson) {
    json::object all{{"state", state}, {"worker_id", member(placement, "worker_id")}};
    // Where it would go now says nothing about one that has gone.
    all["placement"] = waits ? placement : json::value(nullptr);
    all["timeline"] = timeline;
    fmt::print("{}", pretty(all));
    return kDone;
  }
  if (call.output == Output::kId) {
    fmt::print("{}\n", call.words[0]);
    return kDone;
  }
  Table steps({"TIME", "STATE", "EPOCH", "NOTE"});
  for (const json::value& step : items_of(timeline)) {
    std::string note = text_at(step, "note");
    if (const std::string reason = text_at(step, "reason"); !reason.empty()) {
      note += (note.empty() ? "" : ": ") + reason;
    }
    steps.add({text_at(step, "time"), text_at(step, "state"), text_at(step, "epoch"), note});
  }
  fmt::print("{}\n{}", steps.text(),
             waits ? placement_text(placement) : where_it_went(placement, timeline));
  return kDone;
}

}  // namespace

std::vector<Verb> job_look_verbs() {
  return {
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
      {"job logs",
       "ID",
       "The result of a job, byte by byte as its worker stored it.",
       {},
       "job logs 3f0c…\njob logs 3f0c… > result.bin",
       logs,
       1,
       1},
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
