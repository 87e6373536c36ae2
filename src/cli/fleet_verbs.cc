// worker list, pool list and get, topic create, list and delete, route explain.
#include <cstdio>

#include <fmt/core.h>

#include "cli/job_calls.h"
#include "cli/output.h"
#include "cli/placement_text.h"
#include "cli/topic_calls.h"
#include "cli/verb.h"

namespace fairlead::cli {

namespace {

std::string percent(const json::value& value, const char* name, double scale = 1) {
  return fmt::format("{:.0f}%", number_at(value, name) * scale);
}

void show_list(const Call& call, const json::array& items, const char* id, const Table& table) {
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(items));
  } else if (call.output == Output::kId) {
    for (const json::value& item : items) fmt::print("{}\n", text_at(item, id));
  } else {
    fmt::print("{}", table.text());
  }
}

int worker_list(Call& call) {
  const std::string pool =
      call.has("pool") ? "&pool=" + percent_encoded(call.flag("pool")) : std::string();
  const json::array all = call.ask_list("/api/v1/workers?limit=500" + pool, true);
  Table table({"WORKER", "POOL", "JOBS", "CPU", "MEMORY", "HEARD", "STATE", "TOPICS"});
  for (const json::value& worker : all) {
    const auto heard = std::chrono::milliseconds(
        static_cast<int64_t>(number_at(worker, "heartbeat_age_seconds") * 1000));
    const std::string topics = text_at(worker, "ready_topics");
    const char* state = text_at(worker, "online") != "true"       ? "offline"
                        : text_at(worker, "overloaded") == "true" ? "full"
                                                                  : "online";
    table.add({text_at(worker, "worker_id"), text_at(worker, "pool"),
               text_at(worker, "load") + "/" + text_at(worker, "max_parallel_jobs"),
               percent(worker, "cpu_load"), percent(worker, "memory_load"),
               short_time(heard) + " ago", state, topics.empty() ? "all" : topics});
  }
  show_list(call, all, "worker_id", table);
  if (all.empty() && call.output == Output::kTable) {
    fmt::print(stderr, "start one: fairlead worker --pool default -- cat\n");
  }
  return kDone;
}

int pool_list(Call& call) {
  const json::value answer = call.ask("GET", "/api/v1/pools");
  Table table({"NAME", "WORKERS", "ACTIVE JOBS", "CAPACITY", "UTILIZATION", "STATUS"});
  for (const json::value& pool : items_of(answer)) {
    table.add({text_at(pool, "name"), text_at(pool, "workers"), text_at(pool, "active_jobs"),
               text_at(pool, "capacity"), percent(pool, "utilization", 100),
               text_at(pool, "status")});
  }
  show_list(call, items_of(answer), "name", table);
  return kDone;
}

int pool_get(Call& call) {
  const json::value pool = call.ask("GET", "/api/v1/pools/" + percent_encoded(call.words[0]));
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(pool));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", text_at(pool, "name"));
  } else {
    fmt::print("{}", listing({{"Name", text_at(pool, "name")},
                              {"Status", text_at(pool, "status")},
                              {"Description", text_at(pool, "description")},
                              {"Workers", text_at(pool, "workers")},
                              {"Active jobs", text_at(pool, "active_jobs")},
                              {"Capacity", text_at(pool, "capacity")},
                              {"Utilization", percent(pool, "utilization", 100)},
                              {"Topics", text_at(pool, "topics")},
                              {"Requires", text_at(pool, "requires")}}));
  }
  return kDone;
}

int topic_create(Call& call) {
  if (!call.has("pool")) {
    throw Problem{kUsage, fmt::format("--pool is missing: {} topic create {} --pool default",
                                      call.dialect.program, call.words[0])};
  }
  json::object body{{"name", call.words[0]}, {"pool", call.flag("pool")}};
  if (call.has("status")) body["status"] = call.flag("status");
  if (call.has("requires")) {
    json::array needs;
    for (const std::string& need : call.list("requires")) needs.emplace_back(need);
    body["requires"] = std::move(needs);
  }
  const auto [topic, new_pool] = make_topic(call, body);
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(topic));
  } else if (call.output == Output::kId) {
    fmt::print("{}\n", text_at(topic, "name"));
  } else {
    fmt::print("topic {} is served by pool {}\n", text_at(topic, "name"), text_at(topic, "pool"));
    if (new_pool) {
      fmt::print("pool {} is new; start a worker for it: fairlead worker --pool {} -- COMMAND\n",
                 text_at(topic, "pool"), text_at(topic, "pool"));
    }
  }
  return kDone;
}

int topic_list(Call& call) {
  const json::value answer = call.ask("GET", "/api/v1/topics");
  Table table({"NAME", "POOL", "STATUS", "ACTIVE WORKERS"});
  for (const json::value& topic : items_of(answer)) {
    table.add({text_at(topic, "name"), text_at(topic, "pool"), text_at(topic, "status"),
               text_at(topic, "active_worker_count")});
  }
  show_list(call, items_of(answer), "name", table);
  return kDone;
}

int topic_delete(Call& call) {
  call.ask("DELETE", "/api/v1/topics/" + percent_encoded(call.words[0]));
  if (call.output == Output::kId) fmt::print("{}\n", call.words[0]);
  if (call.output == Output::kTable) fmt::print("topic {} deleted\n", call.words[0]);
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(json::object{{"name", call.words[0]}, {"deleted", true}}));
  }
  return kDone;
}

int route_explain(Call& call) {
  const json::value placement =
      call.ask("POST", "/api/v1/jobs/explain-placement", submit_body(call, ""));
  const json::value& chosen = member(placement, "chosen");
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(placement));
  } else if (call.output == Output::kId) {
    if (!chosen.is_null()) fmt::print("{}\n", text_at(chosen, "worker_id"));
  } else {
    fmt::print("{}", placement_text(placement));
  }
  return chosen.is_null() ? kFailed : kDone;
}

}  // namespace

std::vector<Verb> fleet_verbs() {
  return {
      {"worker list",
       "",
       "The workers, with their load.",
       {{"pool", "POOL", "of this pool"}},
       "worker list\nworker list --pool gpu -o id",
       worker_list,
       0,
       0},
      {"pool list", "", "The pools, with their load.", {}, "pool list", pool_list, 0, 0},
      {"pool get",
       "NAME",
       "One pool.",
       {},
       "pool get default\npool get default -o json",
       pool_get,
       1,
       1},
      {"topic create",
       "TOPIC",
       "Make a topic, served by a pool from now on; a pool that is not there is made too. Both are "
       "those of all tenants, and so it takes the key of an admin of every tenant.",
       {{"pool", "POOL", "that serves it"},
        {"requires", "A,B", "what its jobs need"},
        {"status", "S", "active or disabled"}},
       "topic create job.train --pool gpu",
       topic_create,
       1,
       1},
      {"topic list",
       "",
       "The topics, and which pool serves them.",
       {},
       "topic list",
       topic_list,
       0,
       0},
      {"topic delete",
       "TOPIC",
       "Take a topic away; from all tenants, and so it takes the key of an admin of every tenant.",
       {},
       "topic delete job.train",
       topic_delete,
       1,
       1},
      {"route explain",
       "",
       "Where a job would go now, and why not elsewhere; nothing is changed.",
       {{"topic", "TOPIC", "of the job (job.default)"},
        {"label", "NAME=VALUE", "may be given several times"},
        {"labels", "JSON", "labels as an object"},
        {"requires", "A,B", "what the pool must offer"}},
       "route explain --topic job.default\nroute explain --label preferred_worker_id=w2",
       route_explain,
       0,
       0},
  };
}

}  // namespace fairlead::cli
