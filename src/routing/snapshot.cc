#include "routing/snapshot.h"

#include <map>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/rfc3339.h"

namespace fairlead::routing {

namespace json = boost::json;

namespace {

struct PoolTotals {
  int64_t workers = 0;
  int64_t active_jobs = 0;
  int64_t capacity = 0;  // of the workers that name one
};

using Totals = std::map<PoolName, PoolTotals>;

json::object to_json(const WorkerReport& report) {
  json::object worker{
      {"worker_id", report.id.str()},
      {"pool", report.pool.str()},
      {"active_jobs", report.active_jobs},
      {"max_parallel_jobs", report.max_parallel_jobs},
      {"capabilities", json::array(report.capabilities.begin(), report.capabilities.end())},
      {"cpu_load", report.cpu_load},
      {"gpu_utilization", report.gpu_utilization},
      {"memory_load", report.memory_load},
      {"region", report.region},
      {"type", report.type}};
  json::object labels;
  for (const auto& [name, value] : report.labels) labels[name] = value;
  worker["labels"] = std::move(labels);
  return worker;
}

json::object to_json(const Totals& totals) {
  json::object pools;
  for (const auto& [name, pool] : totals) {
    pools[name.str()] = json::object{
        {"workers", pool.workers}, {"active_jobs", pool.active_jobs}, {"capacity", pool.capacity}};
  }
  return pools;
}

// A topic is shown with its first pool alone.
json::object topics_of(const PoolMap& pools, const Totals& totals) {
  json::object topics;
  for (const Topic& topic : pools.topics()) {
    const PoolName& pool = pools.pools_of(topic)->front();
    auto found = totals.find(pool);
    const PoolTotals there = found == totals.end() ? PoolTotals{} : found->second;
    topics[topic.str()] = json::object{{"pool", pool.str()},
                                       {"workers", there.workers},
                                       {"capacity", there.capacity},
                                       {"available", there.workers > 0}};
  }
  return topics;
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

double number_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_number() ? value->to_number<double>() : 0;
}

int32_t count_at(const json::object& object, std::string_view name) {
  const double number = number_at(object, name);
  return number >= 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : 0;
}

WorkerReport from_json(const json::object& object) {
  WorkerReport report;
  report.id = WorkerId(text_at(object, "worker_id"));
  report.pool = PoolName(text_at(object, "pool"));
  report.active_jobs = count_at(object, "active_jobs");
  report.max_parallel_jobs = count_at(object, "max_parallel_jobs");
  report.cpu_load = number_at(object, "cpu_load");
  report.gpu_utilization = number_at(object, "gpu_utilization");
  report.memory_load = number_at(object, "memory_load");
  report.region = text_at(object, "region");
  report.type = text_at(object, "type");
  if (const json::value* list = object.if_contains("capabilities"); list && list->is_array()) {
    for (const json::value& item : list->get_array()) {
      if (item.is_string()) report.capabilities.emplace_back(item.get_string());
    }
  }
  if (const json::value* labels = object.if_contains("labels"); labels && labels->is_object()) {
    for (const auto& [name, value] : labels->get_object()) {
      if (value.is_string()) report.labels.emplace(name, std::string(value.get_string()));
    }
  }
  return report;
}

}  // namespace

std::string snapshot_json(const WorkerRegistry& registry, const PoolMap& pools, MonotonicTime now,
                          WallTime captured_at, std::string_view writer) {
  Totals totals;
  json::array workers;
  for (const WorkerView& worker : registry.workers()) {
    const WorkerReport& report = worker.report;
    if (!registry.alive(report.id, now)) continue;
    PoolTotals& pool = totals[report.pool];
    ++pool.workers;
    pool.active_jobs += report.active_jobs;
    pool.capacity += report.max_parallel_jobs;
    workers.push_back(to_json(report));
  }
  json::object snapshot{{"captured_at", rfc3339_seconds(captured_at)}, {"writer_id", writer}};
  if (!totals.empty()) snapshot["pools"] = to_json(totals);
  if (json::object topics = topics_of(pools, totals); !topics.empty()) {
    snapshot["topics"] = std::move(topics);
  }
  if (!workers.empty()) snapshot["workers"] = std::move(workers);
  return json::serialize(snapshot);
}

Result<Snapshot> parse_snapshot(std::string_view text) {
  json::error_code error;
  json::value parsed = json::parse(text, error);
  if (error || !parsed.is_object()) {
    return fail(ErrorCode::kInvalid, "the worker snapshot is no JSON object");
  }
  const json::object& object = parsed.get_object();
  auto captured = parse_rfc3339(text_at(object, "captured_at"));
  if (!captured) {
    return fail(ErrorCode::kInvalid, "the worker snapshot has no captured_at in RFC 3339");
  }
  Snapshot snapshot{captured->time, {}};
  if (const json::value* workers = object.if_contains("workers"); workers && workers->is_array()) {
    for (const json::value& worker : workers->get_array()) {
      if (!worker.is_object()) continue;
      WorkerReport report = from_json(worker.get_object());
      if (!report.id.str().empty()) snapshot.workers.push_back(std::move(report));
    }
  }
  return snapshot;
}

}  // namespace fairlead::routing
