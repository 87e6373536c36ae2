// Pools: read, made, changed, drained and taken away; and which topics they serve.
#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/pool_json.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

constexpr size_t kRequiresMax = 100;

// 3 to 63 lower-case letters, digits and single hyphens within.
std::optional<Reply> wrong_name(std::string_view name) {
  auto plain = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) ||
           std::isdigit(static_cast<unsigned char>(c));
  };
  bool right = name.size() >= limits::kPoolNameBytesMin &&
               name.size() <= limits::kPoolNameBytesMax && plain(name.front()) &&
               plain(name.back()) && name.find("--") == name.npos &&
               std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
  if (right) return std::nullopt;
  return problem(400,
                 fmt::format("pool name \"{}\" must be 3 to 63 lower-case letters, digits and "
                             "single hyphens between them",
                             name.substr(0, 64)),
                 "invalid_pool_name");
}

Reply not_found(const std::string& name) {
  return problem(404, fmt::format("there is no pool {}", name), "pool_not_found");
}

Task<Reply> list(Backend& backend) {
  json::array items;
  std::map<std::string, PoolView> views = pool_views(backend);
  for (const auto& [name, pool] : backend.pools.pools()) {
    items.push_back(pool_json(backend, name, pool, views[name]));
  }
  co_return reply_json(200, {{"items", std::move(items)}});
}

std::expected<Call, Reply> read_list(Request&, ReadTools&) {
  return [](Backend& backend) { return list(backend); };
}

Task<Reply> get_one(Backend& backend, std::string name) {
  auto found = backend.pools.pools().find(name);
  if (found == backend.pools.pools().end()) co_return not_found(name);
  co_return reply_json(200, pool_detail(backend, name, found->second));
}

std::expected<Call, Reply> read_one(Request& request, ReadTools&) {
  return [name = request.parameters[0]](Backend& backend) { return get_one(backend, name); };
}

// --- Changes -------------------------------------------------------------------------------------

struct PoolChange {
  std::string name;
  bool make = false;
  std::optional<std::vector<std::string>> requires_;
  std::optional<std::string> description;
  std::optional<routing::PoolStatus> status;
  std::optional<int64_t> drain_seconds;
};

Task<Reply> change_pool(Backend& backend, PoolChange change) {
  if (!change.make && !backend.pools.pools().contains(change.name)) {
    co_return not_found(change.name);
  }
  bool made = !backend.pools.pools().contains(change.name);
  WallTime now = backend.clock.wall();
  auto changed = co_await backend.pools.change(
      [&change, now](PoolBook::Topics&, PoolBook::Pools& pools) -> Result<void> {
        PoolEntry& pool = pools[change.name];
        if (change.make) pool = PoolEntry{};
        if (change.requires_) pool.requires_ = normalised(*change.requires_);
        if (change.description) pool.description = *change.description;
        if (change.status) {
          pool.status = *change.status;
          pool.drain_started_at.reset();
          pool.drain_seconds = 0;
        }
        if (change.drain_seconds) {
          pool.status = routing::PoolStatus::kDraining;
          pool.drain_started_at = now;
          pool.drain_seconds = *change.drain_seconds;
        }
        return {};
      });
  if (!changed) co_return problem_of(changed.error());
  co_return reply_json(made ? 201 : 200,
                       pool_detail(backend, change.name, backend.pools.pools().at(change.name)));
}

enum class PoolVerb { kPut, kPatch, kDrain };

template <PoolVerb kVerb>
std::expected<Call, Reply> read_change(Request& request, ReadTools&) {
  auto body = parse_body(request.body);
  if (!body) return std::unexpected(problem(400, body.error().message, "invalid_json"));
  PoolChange change;
  change.name = request.parameters[0];
  if (kVerb == PoolVerb::kPut) {
    if (auto wrong = wrong_name(change.name)) return std::unexpected(*std::move(wrong));
  }
  Fields fields(*body, Fields::Unknown::kRefused);
  if (kVerb == PoolVerb::kDrain) {
    change.drain_seconds = fields.number("timeout_seconds", 1, limits::kDrainSecondsMax)
                               .value_or(limits::kDrainSecondsDefault);
  } else {
    change.make = kVerb == PoolVerb::kPut;
    change.requires_ = fields.optional_texts("requires", kRequiresMax, 256);
    change.description = fields.optional_text("description", 1024);
  }
  if (kVerb == PoolVerb::kPatch) {
    if (auto status = fields.optional_text("status", 32)) {
      using routing::PoolStatus;
      for (PoolStatus known : {PoolStatus::kActive, PoolStatus::kDraining, PoolStatus::kInactive}) {
        if (*status == routing::to_string(known)) change.status = known;
      }
      if (!change.status) {
        fields.refuse(
            fmt::format("status is \"{}\", must be active, draining or inactive", *status));
      }
    }
  }
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  return [change = std::move(change)](Backend& backend) mutable {
    return change_pool(backend, std::move(change));
  };
}

// Jobs that wait for a worker of the pools that serve their topic, this one among them.
Task<Result<size_t>> queued_for(Backend& backend, const std::string& name) {
  Result<store::Queues> live = co_await backend.store.queues();
  if (!live) co_return std::unexpected(live.error());
  size_t queued = 0;
  for (const store::Queue& queue : live->all) {
    auto topic = backend.pools.topics().find(queue.topic.str());
    if (topic == backend.pools.topics().end()) continue;
    if (std::ranges::find(topic->second.pools, name) == topic->second.pools.end()) continue;
    using enum job::State;
    for (job::State state : {kPending, kScheduled, kRetrying}) queued += queue.in(state);
  }
  co_return queued;
}

Task<Reply> erase(Backend& backend, std::string name, bool force) {
  auto queued = co_await queued_for(backend, name);
  if (!queued) co_return problem_of(queued.error());
  auto found = backend.pools.pools().find(name);
  if (found == backend.pools.pools().end()) co_return not_found(name);
  PoolView view = pool_view(backend, name);
  json::array alone;
  for (const auto& [topic, entry] : backend.pools.topics()) {
    if (entry.pools == std::vector{name}) alone.emplace_back(topic);
  }
  if (!force && (view.workers > 0 || !alone.empty())) {
    json::array agents;
    for (const json::value& worker : view.worker_list) agents.push_back(worker.at("worker_id"));
    co_return problem(409, "the pool is in use: drain it, or delete it with force=true",
                      "pool_in_use",
                      {{"pool", name},
                       {"pool_status", routing::to_string(found->second.status)},
                       {"queued_jobs", *queued},
                       {"active_jobs", view.active},
                       {"agent_ids", std::move(agents)},
                       {"topics", std::move(alone)}});
  }
  auto changed = co_await backend.pools.change(
      [&name](PoolBook::Topics& topics, PoolBook::Pools& pools) -> Result<void> {
        pools.erase(name);
        for (auto it = topics.begin(); it != topics.end();) {
          std::erase(it->second.pools, name);
          it = it->second.pools.empty() ? topics.erase(it) : std::next(it);
        }
        if (!topics.empty()) return {};
        return fail(ErrorCode::kInvalid, "the last topic would go with the pool");
      });
  if (!changed) co_return problem_of(changed.error());
  co_return reply_empty(204);
}

std::expected<Call, Reply> read_erase(Request& request, ReadTools&) {
  bool force = request.parameter("force") == "true";
  return [name = request.parameters[0], force](Backend& backend) {
    return erase(backend, name, force);
  };
}

// --- Topics of a pool ----------------------------------------------------------------------------

Task<Reply> map_topic(Backend& backend, std::string name, std::string topic, bool add) {
  if (!backend.pools.pools().contains(name)) co_return not_found(name);
  if (!add && !backend.pools.topics().contains(topic)) {
    co_return problem(404, fmt::format("there is no topic {}", topic), "topic_not_found");
  }
  auto changed = co_await backend.pools.change(
      [&](PoolBook::Topics& topics, PoolBook::Pools&) -> Result<void> {
        TopicEntry& entry = topics[topic];
        std::erase(entry.pools, name);
        if (add) entry.pools.push_back(name);
        if (!entry.pools.empty()) return {};
        return fail(ErrorCode::kInvalid,
                    fmt::format("topic {} would have no pool: delete the topic instead", topic));
      });
  if (!changed) co_return problem_of(changed.error());
  co_return reply_empty(204);
}

template <bool kAdd>
std::expected<Call, Reply> read_map(Request& request, ReadTools&) {
  const std::string& topic = request.parameters[1];
  if (kAdd && !is_topic(topic)) {
    return std::unexpected(problem(
        400, fmt::format("topic is \"{}\", {}", topic.substr(0, 64), kTopicRule), "invalid_topic"));
  }
  return [name = request.parameters[0], topic](Backend& backend) {
    return map_topic(backend, name, topic, kAdd);
  };
}

Route route(Method method, const char* pattern, Access access, Reader read, Described described) {
  return {method, pattern, access, read, std::move(described)};
}

}  // namespace

void add_pool_routes(Routes& routes) {
  const char* one = "/api/v1/pools/{name}";
  const char* mapped = "/api/v1/pools/{name}/topics/{topic}";
  routes.push_back(
      route(Method::kGet, "/api/v1/pools", Access::kRead, read_list,
            {.operation = "listPools", .summary = "The pools, by name", .answer = "PoolList"}));
  routes.push_back(
      route(Method::kGet, one, Access::kRead, read_one,
            {.operation = "getPool", .summary = "One pool", .answer = "Pool", .problems = {404}}));
  routes.push_back(route(Method::kPut, one, Access::kCrossTenantAdmin, read_change<PoolVerb::kPut>,
                         {.operation = "putPool",
                          .summary = "Make a pool, or make it anew",
                          .body = "PutPoolRequest",
                          .status = 201,
                          .answer = "Pool",
                          .problems = {400, 503}}));
  routes.push_back(route(Method::kPatch, one, Access::kCrossTenantAdmin,
                         read_change<PoolVerb::kPatch>,
                         {.operation = "patchPool",
                          .summary = "Change a pool",
                          .body = "PatchPoolRequest",
                          .answer = "Pool",
                          .problems = {400, 404, 503}}));
  routes.push_back(route(Method::kDelete, one, Access::kCrossTenantAdmin, read_erase,
                         {.operation = "deletePool",
                          .summary = "Take a pool away",
                          .query = {"force"},
                          .status = 204,
                          .problems = {400, 404, 409, 503}}));
  routes.push_back(route(Method::kPost, "/api/v1/pools/{name}/drain", Access::kCrossTenantAdmin,
                         read_change<PoolVerb::kDrain>,
                         {.operation = "drainPool",
                          .summary = "Give the pool no more jobs",
                          .body = "DrainPoolRequest",
                          .answer = "Pool",
                          .problems = {400, 404, 503}}));
  routes.push_back(route(Method::kPut, mapped, Access::kCrossTenantAdmin, read_map<true>,
                         {.operation = "addPoolTopic",
                          .summary = "Let the pool serve a topic",
                          .status = 204,
                          .problems = {400, 404, 503}}));
  routes.push_back(route(Method::kDelete, mapped, Access::kCrossTenantAdmin, read_map<false>,
                         {.operation = "removePoolTopic",
                          .summary = "Let the pool serve a topic no longer",
                          .status = 204,
                          .problems = {400, 404, 503}}));
}

}  // namespace fairlead::http
