// The verbs of cordumctl for what a gateway may have beyond jobs: workflows and their runs,
// approvals, credentials of workers. A gateway that has it not says so.
#include "cli/cordumctl_calls.h"
#include "cli/job_calls.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

// --- workflow, run, approval ---------------------------------------------------------------------

int workflow_create(Call& call) {
  if (!call.has("file")) throw Problem{kUsage, "--file is required"};
  const json::value answer =
      call.ask("POST", api_path({"workflows"}), read_json(call.flag("file"), "file"));
  fmt::print("{}\n", text_at(answer, "id"));
  return kDone;
}

int workflow_delete(Call& call) {
  call.ask("DELETE", api_path({"workflows", call.words[0]}));
  return kDone;
}

int run_start(Call& call) {
  std::string target = api_path({"workflows", call.words[0], "runs"});
  if (call.has("dry-run")) target += "?dry_run=true";
  json::value input = json::object{};
  if (call.has("input")) input = read_json(call.flag("input"), "input");
  if (call.has("idempotency-key") && input.is_object()) {
    target += (call.has("dry-run") ? "&" : "?") + std::string("idempotency_key=") +
              percent_encoded(call.flag("idempotency-key"));
  }
  if (call.has("debug")) fmt::print(stderr, "POST {}\n{}", target, pretty(input));
  fmt::print("{}\n", text_at(call.ask("POST", target, input), "run_id"));
  return kDone;
}

int run_get(Call& call) {
  return print_json(call.ask("GET", api_path({"workflow-runs", call.words[0]})));
}
int run_timeline(Call& call) {
  return print_json(call.ask("GET", api_path({"workflow-runs", call.words[0], "timeline"})));
}
int run_delete(Call& call) {
  call.ask("DELETE", api_path({"workflow-runs", call.words[0]}));
  return kDone;
}

bool approves(const Call& call) {
  if (call.has("approve") == call.has("reject")) {
    throw Problem{kUsage, "give --approve or --reject"};
  }
  return call.has("approve");
}

int approval_job(Call& call) {
  const char* what = approves(call) ? "approve" : "reject";
  call.ask("POST", api_path({"approvals", call.words[0], what}), json::object{});
  return kDone;
}

int approval_step(Call& call) {
  const json::object body{{"approved", approves(call)}};
  call.ask("POST",
           api_path({"workflows", call.words[0], "runs", call.words[1], "steps", call.words[2],
                     "approve"}),
           body);
  return kDone;
}

int approval_repair(Call& call) {
  json::object body{{"apply", call.has("apply")}};
  if (call.has("note")) body["note"] = call.flag("note");
  return print_json(call.ask("POST", api_path({"approvals", call.words[0], "repair"}), body));
}

// --- worker credential ---------------------------------------------------------------------------

// By flag or by word, not by both.
std::string worker_id(const Call& call) {
  if (call.has("worker-id") != call.words.empty()) {
    throw Problem{kUsage, "give the worker's id once: --worker-id ID"};
  }
  return call.has("worker-id") ? call.flag("worker-id") : call.words[0];
}

int credential_list(Call& call) {
  const json::value answer = call.ask("GET", api_path({"workers", "credentials"}));
  Table table({"WORKER ID", "STATUS", "POOLS", "TOPICS", "PACK ID", "CREATED BY", "CREATED AT"});
  for (const json::value& item : items_of(answer)) {
    auto text = [&](const char* name) {
      const std::string value = text_at(item, name);
      return value.empty() ? "-" : value;
    };
    table.add({text("worker_id"), text_at(item, "revoked_at").empty() ? "active" : "revoked",
               text("allowed_pools"), text("allowed_topics"), text("pack_id"), text("created_by"),
               text("created_at")});
  }
  fmt::print("{}", table.empty() ? "no worker credentials provisioned\n" : table.text());
  return kDone;
}

int credential_create(Call& call) {
  const std::string worker = worker_id(call);
  json::object body{{"worker_id", worker}};
  if (call.has("allowed-pools")) body["allowed_pools"] = list_of(call, "allowed-pools");
  if (call.has("allowed-topics")) body["allowed_topics"] = list_of(call, "allowed-topics");
  const json::value answer = call.ask("POST", api_path({"workers", "credentials"}), body);
  fmt::print(stderr, "the token of {} is shown this once: keep it\n", printable(worker));
  fmt::print("{}\n", text_at(answer, "token"));
  return kDone;
}

int credential_revoke(Call& call) {
  const std::string worker = worker_id(call);
  call.ask("DELETE", api_path({"workers", "credentials", worker}));
  fmt::print("Worker credential \"{}\" revoked\n", printable(worker));
  return kDone;
}

const Flag kWorkerId{"worker-id", "ID", "whose"};

}  // namespace

std::vector<Verb> cordumctl_flow_verbs() {
  return {
      {"workflow create",
       "",
       "Make a workflow; prints its id.",
       {{"file", "FILE", "required"}},
       "workflow create --file flow.json",
       workflow_create,
       0,
       0},
      {"workflow delete",
       "ID",
       "Take a workflow away.",
       {},
       "workflow delete ID",
       workflow_delete,
       1,
       1},
      {"run start",
       "WORKFLOW",
       "Start a run; prints its id.",
       {{"input", "JSON", "inline, a file, or -"},
        {"dry-run", "", ""},
        {"idempotency-key", "KEY", ""},
        {"debug", "", "what is sent, on standard error"}},
       "run start WORKFLOW --input '{}'",
       run_start,
       1,
       1},
      {"run get", "ID", "A run.", {}, "run get ID", run_get, 1, 1},
      {"run timeline", "ID", "What a run went through.", {}, "run timeline ID", run_timeline, 1, 1},
      {"run delete", "ID", "Forget a run.", {}, "run delete ID", run_delete, 1, 1},
      {"approval job",
       "ID",
       "Approve or reject a job.",
       {{"approve", "", ""}, {"reject", "", ""}},
       "approval job ID --approve",
       approval_job,
       1,
       1},
      {"approval step",
       "WORKFLOW RUN STEP",
       "Approve or reject a step of a run.",
       {{"approve", "", ""}, {"reject", "", ""}},
       "approval step WORKFLOW RUN STEP --approve",
       approval_step,
       3,
       3},
      {"approval repair",
       "ID",
       "What is wrong with an approval, and its repair.",
       {{"apply", "", "do it"}, {"note", "TEXT", ""}},
       "approval repair ID --apply",
       approval_repair,
       1,
       1},
      {"worker credential list",
       "",
       "Who has a credential.",
       {},
       "worker credential list",
       credential_list,
       0,
       0},
      {"worker credential create",
       "[ID]",
       "Give a worker a credential; prints its token.",
       {kWorkerId, {"allowed-pools", "A,B", ""}, {"allowed-topics", "A,B", ""}},
       "worker credential create --worker-id w1 --allowed-pools default",
       credential_create,
       0,
       1},
      {"worker credential revoke",
       "[ID]",
       "Take it away.",
       {kWorkerId},
       "worker credential revoke --worker-id w1",
       credential_revoke,
       0,
       1},
  };
}

}  // namespace fairlead::cli
