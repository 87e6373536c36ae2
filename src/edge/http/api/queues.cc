// Queues: for each topic, how many jobs are where, how long the oldest has waited, what came in and
// was done since the start, and what is done a second now.
#include <map>

#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

using job::State;
using scheduler::Counter;

struct TopicQueue {
  std::map<State, uint64_t> counts;
  std::optional<WallTime> oldest;  // of those that wait
};

json::object queue_json(const std::string& topic, const TopicQueue& queue, WallTime now) {
  json::object counts;
  for (State state : job::kAllStates) {
    if (job::is_terminal(state)) continue;
    auto found = queue.counts.find(state);
    counts[job::to_string(state)] = found == queue.counts.end() ? 0 : found->second;
  }
  double age = queue.oldest ? std::chrono::duration<double>(now - *queue.oldest).count() : 0;
  return {{"topic", topic}, {"counts", std::move(counts)}, {"oldest_age_seconds", age}};
}

Task<Reply> queues(Backend& backend, Caller caller) {
  Result<store::Queues> live = co_await backend.store.queues();
  if (!live) co_return problem_of(live.error());
  std::map<std::string, TopicQueue> by_topic;
  for (const auto& [name, entry] : backend.pools.topics()) by_topic[name];
  for (const store::Queue& queue : live->all) {
    if (!caller.sees(queue.tenant)) continue;
    TopicQueue& topic = by_topic[queue.topic.str()];
    for (State state : job::kAllStates) topic.counts[state] += queue.in(state);
    if (queue.oldest && (!topic.oldest || *queue.oldest < *topic.oldest)) {
      topic.oldest = queue.oldest;
    }
  }

  const WallTime now = backend.clock.wall();
  const MonotonicTime tick = backend.clock.monotonic();
  const scheduler::Metrics& metrics = backend.scheduler.metrics();
  json::array items;
  for (const auto& [topic, queue] : by_topic) {
    json::object item = queue_json(topic, queue, now);
    // They are those of all tenants together.
    if (caller.all_tenants) {
      item["received_total"] = metrics.value(Counter::kJobsReceived, topic);
      item["completed_total"] = metrics.value(Counter::kJobsCompleted, topic);
      item["completed_per_second"] = backend.rates.completed_per_second(metrics, topic, tick);
    }
    items.push_back(std::move(item));
  }
  // Totals are since then; counts beyond a bound are not made.
  co_return reply_json(200, {{"items", std::move(items)},
                             {"since", rfc3339(now - (tick - backend.started))},
                             {"truncated", !live->complete}});
}

std::expected<Call, Reply> read_queues(Request& request, ReadTools&) {
  return [caller = request.caller](Backend& backend) { return queues(backend, caller); };
}

}  // namespace

void add_queue_routes(Routes& routes) {
  routes.push_back({Method::kGet,
                    "/api/v1/queues",
                    Access::kRead,
                    read_queues,
                    {.operation = "listQueues",
                     .summary = "Live jobs by topic and state, and the age of the oldest",
                     .answer = "QueueList",
                     .problems = {503}}});
}

}  // namespace fairlead::http
