// The verbs of cordumctl for jobs, pools and the gateway itself: names, flags and output are that
// tool's, so that scripts need no change.
#include <cstdio>

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "cli/cordumctl_calls.h"
#include "cli/doctor.h"
#include "cli/job_calls.h"
#include "cli/output.h"
#include "cli/topic_calls.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

// --- job, dlq ------------------------------------------------------------------------------------

int job_submit(Call& call) {
  if (!call.has("topic")) throw Problem{kUsage, "--topic is required"};
  const json::value answer =
      call.ask("POST", api_path({"jobs"}), submit_body(call, call.flag("prompt")));
  if (call.has("json")) return print_json(answer);
  fmt::print("{}\n", text_at(answer, "job_id"));
  return kDone;
}

int job_status(Call& call) {
  const json::value job = call.ask("GET", job_path(call.words[0]));
  if (call.has("json")) return print_json(job);
  fmt::print("{}\n", text_at(job, "state"));
  return kDone;
}

// The result, else the error, else the job.
int job_logs(Call& call) {
  const json::value job = call.ask("GET", job_path(call.words[0]));
  const json::value& result = member(job, "result");
  if (result.is_string()) {
    const std::string_view text = result.get_string();
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
    return kDone;
  }
  if (!result.is_null()) return print_json(result);
  if (number_at(job, "result_size_bytes") > 0) {  // too long to be shown within its job
    const Answer bytes = call.call("GET", job_path(call.words[0], "/result"));
    if (!bytes.good()) call.refuse(bytes);
    std::fwrite(bytes.body.data(), 1, bytes.body.size(), stdout);
    return kDone;
  }
  const std::string message = text_at(job, "error_message");
  if (message.empty()) return print_json(job);
  fmt::print(stderr, "{}\n", printable(message));
  return kDone;
}

int dlq_retry(Call& call) {
  call.ask("POST", api_path({"dlq", call.words[0], "retry"}), json::object{});
  return kDone;
}

// --- pool, topic ---------------------------------------------------------------------------------

int pool_list(Call& call) {
  Table table({"NAME", "WORKERS", "ACTIVE JOBS", "CAPACITY", "UTILIZATION"});
  for (const json::value& pool : items_of(call.ask("GET", api_path({"pools"})))) {
    table.add({text_at(pool, "name"), text_at(pool, "workers"), text_at(pool, "active_jobs"),
               text_at(pool, "capacity"),
               fmt::format("{:.1f}%", number_at(pool, "utilization") * 100)});
  }
  fmt::print("{}", table.text());
  return kDone;
}

int pool_get(Call& call) {
  return print_json(call.ask("GET", api_path({"pools", call.words[0]})));
}

int pool_create(Call& call) {
  json::object body;
  if (call.has("requires")) body["requires"] = list_of(call, "requires");
  if (call.has("description")) body["description"] = call.flag("description");
  call.ask("PUT", api_path({"pools", call.words[0]}), body);
  fmt::print("pool {} created\n", call.words[0]);
  return kDone;
}

int pool_update(Call& call) {
  json::object body;
  if (call.has("requires")) body["requires"] = list_of(call, "requires");
  if (call.has("description")) body["description"] = call.flag("description");
  if (call.has("status")) body["status"] = call.flag("status");
  call.ask("PATCH", api_path({"pools", call.words[0]}), body);
  fmt::print("pool {} updated\n", call.words[0]);
  return kDone;
}

int pool_delete(Call& call) {
  call.ask("DELETE", api_path({"pools", call.words[0]}) + (call.has("force") ? "?force=true" : ""));
  fmt::print("pool {} deleted\n", call.words[0]);
  return kDone;
}

int pool_drain(Call& call) {
  const auto seconds =
      call.duration("timeout", std::chrono::seconds(300)) / std::chrono::seconds(1);
  call.ask("POST", api_path({"pools", call.words[0], "drain"}),
           json::object{{"timeout_seconds", seconds}});
  fmt::print("pool {} is draining\n", call.words[0]);
  return kDone;
}

int pool_topic_add(Call& call) {
  call.ask("PUT", api_path({"pools", call.words[0], "topics", call.words[1]}));
  fmt::print("topic {} added to pool {}\n", call.words[1], call.words[0]);
  return kDone;
}

int pool_topic_remove(Call& call) {
  call.ask("DELETE", api_path({"pools", call.words[0], "topics", call.words[1]}));
  fmt::print("topic {} removed from pool {}\n", call.words[1], call.words[0]);
  return kDone;
}

int topic_list(Call& call) {
  Table table({"NAME", "POOL", "INPUT SCHEMA", "OUTPUT SCHEMA", "STATUS", "ACTIVE WORKERS"});
  for (const json::value& topic : items_of(call.ask("GET", api_path({"topics"})))) {
    table.add({text_at(topic, "name"), text_at(topic, "pool"), text_at(topic, "input_schema_id"),
               text_at(topic, "output_schema_id"), text_at(topic, "status"),
               text_at(topic, "active_worker_count")});
  }
  fmt::print("{}", table.text());
  return kDone;
}

int topic_create(Call& call) {
  json::object body{{"name", call.words[0]}, {"pool", call.flag("pool")}};
  auto text = [&](const char* flag, const char* field) {
    if (call.has(flag)) body[field] = call.flag(flag);
  };
  text("input-schema", "input_schema_id");
  text("output-schema", "output_schema_id");
  text("pack-id", "pack_id");
  text("status", "status");
  if (call.has("requires")) body["requires"] = list_of(call, "requires");
  if (call.has("risk-tags")) body["risk_tags"] = list_of(call, "risk-tags");
  make_topic(call, body);
  fmt::print("topic {} created\n", call.words[0]);
  return kDone;
}

int topic_delete(Call& call) {
  call.ask("DELETE", api_path({"topics", call.words[0]}));
  fmt::print("topic {} deleted\n", call.words[0]);
  return kDone;
}

// --- status, doctor ------------------------------------------------------------------------------

// What of a license is used: a gateway without licenses says nothing of it.
std::string usage_table(const Call& call) {
  auto answer = call.client.call("GET", api_path({"license", "usage"}));
  if (!answer || !answer->good()) return "";
  boost::system::error_code error;
  const json::value body = json::parse(answer->body, error);
  const json::value& usage = member(body, "usage").is_object() ? member(body, "usage") : body;
  if (error || !usage.is_object()) return "";
  Table table({"USAGE", "CURRENT", "LIMIT"});
  for (const auto& [name, used] : usage.get_object()) {
    if (member(used, "current").is_null()) continue;
    table.add({std::string(name), text_at(used, "current"), text_at(used, "limit")});
  }
  return table.empty() ? "" : "\n" + table.text();
}

int status(Call& call) {
  const json::value body = call.ask("GET", api_path({"status"}));
  if (call.has("json")) return print_json(body);
  const json::value& build = member(body, "build");
  const json::value& license = member(body, "license");
  fmt::print("{}", listing({{"Gateway", call.client.endpoint().url},
                            {"Build", text_at(build, "version")},
                            {"Commit", text_at(build, "commit")},
                            {"Time", text_at(body, "time")},
                            {"Uptime", text_at(body, "uptime_seconds") + "s"},
                            {"Workers", text_at(member(body, "workers"), "count")},
                            {"NATS", text_at(member(body, "nats"), "status")},
                            {"Redis", text_at(member(body, "redis"), "status")},
                            {"Tier", text_at(license, "tier")},
                            {"Expiry", text_at(license, "expires_at")}}));
  fmt::print("{}", usage_table(call));
  return kDone;
}

int version(Call& call) {
  fmt::print("{} {}\n", call.dialect.program, call.dialect.build.version);
  return kDone;
}

int completion(Call& call) {
  if (call.words[0] != "bash") throw Problem{kUsage, "there is completion for bash only"};
  fmt::print("{}", bash_completion(call.dialect));
  return kDone;
}

const Flag kJsonFlag{"json", "", "the whole answer"};

std::vector<Flag> doctor_and_json() {
  std::vector<Flag> flags = doctor_flags();
  flags.insert(flags.begin(), kJsonFlag);
  return flags;
}

const std::vector<Flag> kPoolFlags{{"requires", "A,B", "what its workers offer"},
                                   {"description", "TEXT", ""}};

}  // namespace

std::vector<Verb> cordumctl_core_verbs() {
  return {
      {"job submit",
       "",
       "Submit a job; prints its id.",
       {{"topic", "TOPIC", "required"},
        {"prompt", "TEXT", "what to do"},
        {"input", "JSON", "inline, a file, or -"},
        {"idempotency-key", "KEY", ""},
        {"capability", "NAME", ""},
        {"pack-id", "ID", ""},
        {"labels", "JSON", ""},
        {"risk-tags", "A,B", ""},
        {"requires", "A,B", ""},
        {"org", "ID", ""},
        {"actor-id", "ID", ""},
        {"actor-type", "TYPE", "human or service"},
        kJsonFlag},
       "job submit --topic job.default --prompt \"hello\"",
       job_submit,
       0,
       0},
      {"job status",
       "ID",
       "The state of a job.",
       {kJsonFlag},
       "job status ID --json",
       job_status,
       1,
       1},
      {"job logs", "ID", "Its result, or its error.", {}, "job logs ID", job_logs, 1, 1},
      {"dlq retry", "ID", "Submit a dead letter again.", {}, "dlq retry ID", dlq_retry, 1, 1},
      {"pool list", "", "The pools.", {}, "pool list", pool_list, 0, 0},
      {"pool get", "NAME", "One pool.", {}, "pool get default", pool_get, 1, 1},
      {"pool create", "NAME", "Make a pool.", kPoolFlags, "pool create gpu --requires cuda",
       pool_create, 1, 1},
      {"pool update",
       "NAME",
       "Change a pool.",
       {kPoolFlags[0], kPoolFlags[1], {"status", "S", "active, draining or inactive"}},
       "pool update gpu --description big",
       pool_update,
       1,
       1},
      {"pool delete",
       "NAME",
       "Take a pool away.",
       {{"force", "", "with its topics"}},
       "pool delete gpu --force",
       pool_delete,
       1,
       1},
      {"pool drain",
       "NAME",
       "Give a pool no more jobs.",
       {{"timeout", "TIME", "(300s)"}},
       "pool drain gpu --timeout 60s",
       pool_drain,
       1,
       1},
      {"pool topic add",
       "POOL TOPIC",
       "Let a pool serve a topic.",
       {},
       "pool topic add gpu job.train",
       pool_topic_add,
       2,
       2},
      {"pool topic remove",
       "POOL TOPIC",
       "Let it serve it no more.",
       {},
       "pool topic remove gpu job.train",
       pool_topic_remove,
       2,
       2},
      {"topic list", "", "The topics.", {}, "topic list", topic_list, 0, 0},
      {"topic create",
       "NAME",
       "Make a topic.",
       {{"pool", "POOL", ""},
        {"input-schema", "ID", "kept and shown; no payload is checked against it"},
        {"output-schema", "ID", "kept and shown; no result is checked against it"},
        {"pack-id", "ID", ""},
        {"requires", "A,B", ""},
        {"risk-tags", "A,B", ""},
        {"status", "S", "active or disabled"}},
       "topic create job.train --pool gpu",
       topic_create,
       1,
       1},
      {"topic delete",
       "NAME",
       "Take a topic away.",
       {},
       "topic delete job.train",
       topic_delete,
       1,
       1},
      {"status", "", "The gateway.", {kJsonFlag}, "status --json", status, 0, 0},
      {"doctor", "", "Look for what is wrong.", doctor_and_json(), "doctor --json", doctor, 0, 0},
      {"version", "", "The version of this program.", {}, "version", version, 0, 0},
      {"completion", "bash", "A script for bash.", {}, "completion bash", completion, 1, 1},
  };
}

}  // namespace fairlead::cli
