// dlq list, show, retry, delete.
#include <cstdio>

#include <fmt/core.h>

#include "cli/bulk.h"
#include "cli/output.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

std::string entry_path(const std::string& job, std::string_view rest = {}) {
  return "/api/v1/dlq/" + percent_encoded(job) + std::string(rest);
}

int list(Call& call) {
  std::string query = "?limit=" + std::to_string(std::min<int64_t>(call.count("limit", 100), 500));
  if (call.has("topic")) query += "&topic=" + percent_encoded(call.flag("topic"));
  if (call.has("reason")) query += "&reason_code=" + percent_encoded(call.flag("reason"));
  const json::array all = call.ask_list("/api/v1/dlq/page" + query, call.has("all"));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(all));
  } else if (call.output == Output::kId) {
    for (const json::value& entry : all) fmt::print("{}\n", text_at(entry, "job_id"));
  } else {
    Table table({"JOB", "TOPIC", "REASON", "ATTEMPTS", "SINCE", "MESSAGE"});
    for (const json::value& entry : all) {
      table.add({text_at(entry, "job_id"), text_at(entry, "topic"), text_at(entry, "reason_code"),
                 text_at(entry, "attempts"), text_at(entry, "created_at").substr(0, 19),
                 text_at(entry, "reason").substr(0, 60)});
    }
    fmt::print("{}", table.text());
  }
  return kDone;
}

int show(Call& call) {
  const json::value entry = call.ask("GET", entry_path(call.words[0]));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(entry));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", text_at(entry, "job_id"));
  } else {
    fmt::print("{}", listing({{"Job", text_at(entry, "job_id")},
                              {"Topic", text_at(entry, "topic")},
                              {"Tenant", text_at(entry, "tenant")},
                              {"Status", text_at(entry, "status")},
                              {"Reason", text_at(entry, "reason")},
                              {"Reason code", text_at(entry, "reason_code")},
                              {"Last state", text_at(entry, "last_state")},
                              {"Attempts", text_at(entry, "attempts")},
                              {"Since", text_at(entry, "created_at")}}));
  }
  return kDone;
}

bool by_filter(const Call& call) {
  const bool filtered = call.has("all") || call.has("topic") || call.has("reason");
  if (filtered == !call.words.empty()) {
    throw Problem{kUsage, "name entries, or choose them with --topic, --reason or --all"};
  }
  return filtered;
}

// The same for both: what is retried or deleted by what it is.
int bulk(Call& call, const char* target, const char* done_word, std::string before = {}) {
  json::object filter;
  if (call.has("topic")) filter["topic"] = call.flag("topic");
  if (call.has("reason")) filter["reason_code"] = call.flag("reason");
  if (!before.empty()) filter["created_before"] = std::move(before);
  return run_bulk(call, {target, {{"filter", std::move(filter)}}, "done", done_word});
}

int retry(Call& call) {
  if (by_filter(call)) {
    // What fails again while this goes on is not retried again.
    std::string now = text_at(call.ask("GET", "/api/v1/status"), "time");
    return bulk(call, "/api/v1/dlq/retry", "submitted again", std::move(now));
  }
  return call.for_each_word([&](const std::string& job) {
    json::value answer = call.ask("POST", entry_path(job, "/retry"), json::object{});
    if (call.output != Output::kJson) fmt::print("{}\n", text_at(answer, "job_id"));
    return answer;
  });
}

int erase(Call& call) {
  if (by_filter(call)) return bulk(call, "/api/v1/dlq/delete", "deleted");
  return call.for_each_word([&](const std::string& job) {
    call.ask("DELETE", entry_path(job));
    if (call.output == Output::kId) fmt::print("{}\n", job);
    if (call.output == Output::kTable) fmt::print("{} deleted\n", job);
    return json::value{{"job_id", job}, {"deleted", true}};
  });
}

const std::vector<Flag> kBulkFlags{
    {"topic", "TOPIC", "entries of this topic"},
    {"reason", "CODE", "entries with this reason code"},
    {"all", "", "every entry"},
    {"max", "N", "at most (100)"},
    {"dry-run", "", "only say which"},
};

}  // namespace

std::vector<Verb> dlq_verbs() {
  return {
      {"dlq list",
       "",
       "Jobs that came to a bad end, and why.",
       {{"topic", "TOPIC", "of this topic"},
        {"reason", "CODE", "with this reason code"},
        {"limit", "N", "at most (100)"},
        {"all", "", "every page"}},
       "dlq list\ndlq list --reason max_retries_exceeded",
       list,
       0,
       0},
      {"dlq show", "ID", "One entry.", {}, "dlq show 3f0c…", show, 1, 1},
      {"dlq retry", "[ID…]", "Submit again, as new jobs; prints their ids.", kBulkFlags,
       "dlq retry 3f0c…\ndlq retry --topic job.default --dry-run\ndlq retry --reason timeout",
       retry, 0, 1000},
      {"dlq delete", "[ID…]", "Forget entries.", kBulkFlags,
       "dlq delete 3f0c…\ndlq delete --all --dry-run", erase, 0, 1000},
  };
}

}  // namespace fairlead::cli
