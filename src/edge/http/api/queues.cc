// Queues: for each topic, how many jobs are where, how long the oldest has waited, and what came in
// and was done since the start.
#include <map>

#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

using job::State;
using scheduler::Counter;

struct Queue {
  std::map<State, uint64_t> counts;
  std::optional<WallTime> oldest;  // of those that wait
};

bool waits(State state) {
  return state == State::kPending || state == State::kScheduled || state == State::kRetrying;
}

Task<Reply> queues(Backend& backend, Caller caller) {
  std::map<std::string, Queue> by_topic;
  for (const auto& [name, entry] : backend.pools.topics()) by_topic[name];
  bool truncated = false;
  for (State state : {State::kPending, State::kScheduled, State::kRetrying, State::kDispatched,
                      State::kRunning, State::kApprovalRequired}) {
    store::Query query;
    query.by = store::Query::By::kState;
    query.text = job::to_string(state);
    query.limit = limits::kScanMax;
    size_t visits = 0;
    do {
      auto page = co_await backend.store.scan(query);
      if (!page) co_return problem_of(page.error());
      for (const job::Record& record : page->records) {
        if (!caller.sees(record.tenant)) continue;
        Queue& queue = by_topic[record.topic.str()];
        ++queue.counts[state];
        if (waits(state) && (!queue.oldest || record.created_at < *queue.oldest)) {
          queue.oldest = record.created_at;
        }
      }
      visits += page->records.size();
      query.cursor = page->next;
    } while (!query.cursor.empty() && visits < limits::kQueueVisitsMax);
    truncated |= !query.cursor.empty();
  }

  WallTime now = backend.clock.wall();
  const scheduler::Metrics& metrics = backend.scheduler.metrics();
  double up = std::chrono::duration<double>(backend.clock.monotonic() - backend.started).count();
  json::array items;
  for (const auto& [topic, queue] : by_topic) {
    json::object counts;
    for (State state : job::kAllStates) {
      if (job::is_terminal(state)) continue;
      auto found = queue.counts.find(state);
      counts[job::to_string(state)] = found == queue.counts.end() ? 0 : found->second;
    }
    double age = queue.oldest ? std::chrono::duration<double>(now - *queue.oldest).count() : 0;
    uint64_t received = metrics.value(Counter::kJobsReceived, topic);
    uint64_t done = metrics.value(Counter::kJobsCompleted, topic);
    items.push_back(json::object{{"topic", topic},
                                 {"counts", std::move(counts)},
                                 {"oldest_age_seconds", age},
                                 {"received_total", received},
                                 {"completed_total", done},
                                 {"completed_per_second", up > 0 ? done / up : 0.0}});
  }
  // Totals and rates are since then; counts beyond a bound are not made.
  co_return reply_json(200,
                       {{"items", std::move(items)},
                        {"since", rfc3339(now - (backend.clock.monotonic() - backend.started))},
                        {"truncated", truncated}});
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
