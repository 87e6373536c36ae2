// Topics: what may be submitted, and which pools serve it.
#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

constexpr size_t kListMax = 100;

json::array list_of(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

// How many live workers serve each topic, counted in one visit to all of them.
class ServingWorkers {
 public:
  explicit ServingWorkers(const Backend& backend) {
    const MonotonicTime now = backend.clock.monotonic();
    const routing::WorkerRegistry& registry = backend.scheduler.registry();
    registry.visit([&](const routing::WorkerView& worker) {
      if (!registry.alive(worker.report.id, now)) return;
      Pool& pool = pools_[worker.report.pool.str()];
      if (worker.report.ready_topics.empty()) ++pool.any_topic;
      for (const std::string& topic : worker.report.ready_topics) ++pool.by_topic[topic];
    });
  }

  int64_t of(const std::string& name, const TopicEntry& topic) const {
    int64_t workers = 0;
    for (const std::string& pool : std::set<std::string>(topic.pools.begin(), topic.pools.end())) {
      auto found = pools_.find(pool);
      if (found == pools_.end()) continue;
      workers += found->second.any_topic;
      auto named = found->second.by_topic.find(name);
      if (named != found->second.by_topic.end()) workers += named->second;
    }
    return workers;
  }

 private:
  struct Pool {
    int64_t any_topic = 0;  // workers that take every topic of their pool
    std::unordered_map<std::string, int64_t> by_topic;
  };
  std::unordered_map<std::string, Pool> pools_;
};

json::object topic_json(const ServingWorkers& workers, const std::string& name,
                        const TopicEntry& topic) {
  return {{"name", name},
          {"pool", topic.pools.empty() ? "" : topic.pools.front()},
          {"pools", list_of(topic.pools)},
          {"input_schema_id", topic.input_schema_id},
          {"output_schema_id", topic.output_schema_id},
          {"pack_id", topic.pack_id},
          {"requires", list_of(topic.requires_)},
          {"risk_tags", list_of(topic.risk_tags)},
          {"status", topic.enabled ? "active" : "disabled"},
          {"active_worker_count", workers.of(name, topic)}};
}

Task<Reply> list(Backend& backend) {
  json::array items;
  const ServingWorkers workers(backend);
  for (const auto& [name, topic] : backend.pools.topics()) {
    items.push_back(topic_json(workers, name, topic));
  }
  bool empty = items.empty();
  co_return reply_json(200, {{"items", std::move(items)}, {"registry_empty", empty}});
}

std::expected<Call, Reply> read_list(Request&, ReadTools&) {
  return [](Backend& backend) { return list(backend); };
}

// --- Changes -------------------------------------------------------------------------------------

struct TopicChange {
  std::string name;
  TopicEntry entry;
};

Task<Reply> put(Backend& backend, TopicChange change) {
  for (const std::string& pool : change.entry.pools) {
    if (backend.pools.pools().contains(pool)) continue;
    std::string known;
    for (const auto& [name, entry] : backend.pools.pools()) {
      if (known.size() > 200) break;
      known += (known.empty() ? "" : ", ") + name;
    }
    co_return problem(400, fmt::format("there is no pool {}, there are {}", pool, known),
                      "unknown_pool");
  }
  bool made = !backend.pools.topics().contains(change.name);
  auto changed = co_await backend.pools.change(
      [&change](PoolBook::Topics& topics, PoolBook::Pools&) -> Result<void> {
        topics[change.name] = change.entry;
        return {};
      });
  if (!changed) co_return problem_of(changed.error());
  json::object body = topic_json(ServingWorkers(backend), change.name, change.entry);
  if (!change.entry.input_schema_id.empty() || !change.entry.output_schema_id.empty()) {
    body["warnings"] = json::array{
        warning("schemas_not_enforced",
                "the schemas of a topic are kept and shown; jobs are not held against them")};
  }
  co_return reply_json(made ? 201 : 200, body);
}

std::expected<Call, Reply> read_put(Request& request, ReadTools&) {
  auto body = parse_body(request.body);
  if (!body) return std::unexpected(problem(400, body.error().message, "invalid_json"));
  Fields fields(*body, Fields::Unknown::kRefused);
  TopicChange change;
  change.name = fields.text("name", limits::kTopicBytesMax);
  if (!is_topic(change.name)) {
    fields.refuse(fmt::format("name is \"{}\", {}", change.name, kTopicRule));
  }
  change.entry.pools = fields.texts("pools", kListMax, limits::kTopicBytesMax);
  if (std::string pool = fields.text("pool", limits::kTopicBytesMax);
      !pool.empty() && std::ranges::find(change.entry.pools, pool) == change.entry.pools.end()) {
    change.entry.pools.insert(change.entry.pools.begin(), pool);
  }
  if (change.entry.pools.empty()) fields.refuse("pool is missing, must name the pool that serves");
  change.entry.input_schema_id = fields.text("input_schema_id");
  change.entry.output_schema_id = fields.text("output_schema_id");
  change.entry.pack_id = fields.text("pack_id");
  change.entry.requires_ = fields.texts("requires", kListMax, 256);
  change.entry.risk_tags = fields.texts("risk_tags", kListMax, 256);
  std::string status = fields.text("status");
  if (!status.empty() && status != "active" && status != "disabled") {
    fields.refuse(fmt::format("status is \"{}\", must be active or disabled", status));
  }
  change.entry.enabled = status != "disabled";
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  return [change = std::move(change)](Backend& backend) mutable {
    return put(backend, std::move(change));
  };
}

Task<Reply> erase(Backend& backend, std::string name) {
  if (!backend.pools.topics().contains(name)) {
    co_return problem(404, fmt::format("there is no topic {}", name), "topic_not_found");
  }
  auto changed = co_await backend.pools.change(
      [&name](PoolBook::Topics& topics, PoolBook::Pools&) -> Result<void> {
        if (topics.size() == 1) {
          return fail(ErrorCode::kInvalid, "the last topic cannot be deleted: make another first");
        }
        topics.erase(name);
        return {};
      });
  if (!changed) co_return problem_of(changed.error());
  co_return reply_empty(204);
}

std::expected<Call, Reply> read_erase(Request& request, ReadTools&) {
  return [name = request.parameters[0]](Backend& backend) { return erase(backend, name); };
}

}  // namespace

// Topics and the pools that serve them are those of all tenants: to change them, here and through
// a pool, is for admins whose key is bound to none.
void add_topic_routes(Routes& routes) {
  routes.push_back(
      {Method::kGet,
       "/api/v1/topics",
       Access::kRead,
       read_list,
       {.operation = "listTopics", .summary = "The topics, by name", .answer = "TopicList"}});
  routes.push_back({Method::kPost,
                    "/api/v1/topics",
                    Access::kCrossTenantAdmin,
                    read_put,
                    {.operation = "putTopic",
                     .summary = "Make a topic, or make it anew",
                     .body = "PutTopicRequest",
                     .status = 201,
                     .answer = "Topic",
                     .problems = {400, 503}}});
  routes.push_back({Method::kDelete,
                    "/api/v1/topics/{name}",
                    Access::kCrossTenantAdmin,
                    read_erase,
                    {.operation = "deleteTopic",
                     .summary = "Take a topic away",
                     .status = 204,
                     .problems = {400, 404, 503}}});
}

}  // namespace fairlead::http
