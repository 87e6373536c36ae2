// Why a job is, or would be, placed where it is. Nothing is changed by asking.
#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "cordum/agent/v1/job.pb.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/job_json.h"
#include "edge/http/api/route.h"
#include "routing/explain.h"

namespace fairlead::http {

namespace {

constexpr size_t kWorkersShownMax = 1000;
constexpr size_t kWorkerShownBytes = 512;  // about

struct Question {
  Topic topic;
  std::vector<std::string> requires_;
  routing::Labels labels;
  size_t workers_max = 100;
};

// The cause of a rejection in the words of the API.
const char* cause_of(routing::WorkerVerdict verdict) {
  switch (verdict) {
    case routing::WorkerVerdict::kChosen:
      return "";
    case routing::WorkerVerdict::kHigherScore:
      return "higher_score";
    case routing::WorkerVerdict::kOverloaded:
      return "overloaded";
    case routing::WorkerVerdict::kLabelMismatch:
      return "label_mismatch";
    case routing::WorkerVerdict::kNotReady:
      return "not_ready";
    case routing::WorkerVerdict::kStale:
      return "stale";
    case routing::WorkerVerdict::kMissingCapability:
      return "missing_capability";
    case routing::WorkerVerdict::kOtherPool:
      return "pool_ineligible";
  }
  return "";
}

json::object to_json(const routing::Explanation& explanation) {
  json::array pools;
  for (const routing::ExplainedPool& pool : explanation.pools) {
    json::object object{{"pool", pool.pool.str()}, {"eligible", pool.taken()}};
    if (!pool.taken()) {
      const bool lacks = pool.fit == routing::PoolFit::kLacksCapability;
      object["cause"] = lacks ? "missing_capability" : "pool_ineligible";
      object["detail"] = pool.why;
    }
    pools.push_back(std::move(object));
  }
  json::array rejected;
  for (const routing::ExplainedWorker& worker : explanation.workers) {
    if (worker.verdict == routing::WorkerVerdict::kChosen) continue;
    rejected.push_back(
        json::object{{"worker_id", worker.worker.str()},
                     {"pool", worker.pool.str()},
                     {"cause", cause_of(worker.verdict)},
                     {"detail", worker.why},
                     {"load", worker.load},
                     {"score", worker.score},
                     {"heartbeat_age_seconds", std::chrono::duration<double>(worker.age).count()}});
  }
  json::array hints;
  for (const routing::HintOutcome& hint : explanation.hints) {
    hints.push_back(json::object{{"hint", hint.hint},
                                 {"value", hint.value},
                                 {"accepted", hint.accepted},
                                 {"cause", hint.cause}});
  }
  json::object body;
  body["placeable"] = explanation.chosen.has_value();
  body["chosen"] = nullptr;
  if (explanation.chosen) {
    body["chosen"] = {{"worker_id", explanation.chosen->worker.str()},
                      {"subject", explanation.chosen->subject},
                      {"by_hint", explanation.chosen->by_hint}};
  } else {
    body["reason"] = job::to_string(explanation.code);
    body["detail"] = explanation.detail;
  }
  body["pools"] = std::move(pools);
  body["rejected"] = std::move(rejected);
  body["hints"] = std::move(hints);
  body["workers_total"] = explanation.workers_total;
  return body;
}

routing::Explanation explain(Backend& backend, const Question& question) {
  return routing::explain(backend.scheduler.pools(), backend.scheduler.registry(),
                          {question.topic, question.requires_, &question.labels},
                          backend.clock.monotonic(), question.workers_max);
}

// --- Of a job that is not there yet --------------------------------------------------------------

Task<Reply> dry_run(Backend& backend, Question question) {
  // As a submit would: what the topic demands, the job requires.
  auto topic = backend.pools.topics().find(question.topic.str());
  if (topic != backend.pools.topics().end()) {
    std::ranges::copy(topic->second.requires_, std::back_inserter(question.requires_));
  }
  auto explanation = explain(backend, question);
  const size_t bytes = explanation.workers.size() * kWorkerShownBytes;
  co_return reply_later(200, bytes, [explanation = std::move(explanation)] {
    return json::value(to_json(explanation));
  });
}

std::expected<Call, Reply> read_dry_run(Request& request, ReadTools&) {
  // The body of a submit will do: what does not matter for placement is passed over.
  auto given = parse_body_without(request.body, "context");
  if (!given) return std::unexpected(problem(400, given.error().message, "invalid_json"));
  Fields fields(given->body, Fields::Unknown::kTolerated);
  Question question;
  question.topic =
      Topic(fields.optional_text("topic", limits::kTopicBytesMax).value_or("job.default"));
  question.requires_ = fields.texts("requires", limits::kSubmitLabelsMax, 256);
  for (auto& [name, value] :
       fields.pairs("labels", limits::kSubmitLabelsMax, limits::kLabelNameBytesMax,
                    limits::kLabelValueBytesMax)) {
    question.labels.emplace(std::move(name), std::move(value));
  }
  question.workers_max =
      static_cast<size_t>(fields.number("workers_max", 0, kWorkersShownMax).value_or(100));
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));
  return [question = std::move(question)](Backend& backend) mutable {
    return dry_run(backend, std::move(question));
  };
}

// --- Of a job that is there ----------------------------------------------------------------------

Task<Reply> placement(Backend& backend, Caller caller, JobId job) {
  Result<store::Loaded> loaded =
      co_await backend.store.load(job, {.with_request = true, .lease = {}});
  if (!loaded) co_return problem_of(loaded.error());
  if (!loaded->record) co_return problem(404, "job not found");
  const job::Record& record = *loaded->record;
  if (!caller.sees(record.tenant)) co_return problem(403, "tenant access denied");
  cordum::agent::v1::JobRequest request;
  request.ParseFromString(loaded->request);
  Question question;
  question.topic = record.topic;
  question.requires_.assign(request.meta().requires_().begin(), request.meta().requires_().end());
  for (const auto& [name, value] : request.labels()) question.labels.emplace(name, value);

  json::object body = to_json(explain(backend, question));
  body["job_id"] = job.str();
  body["state"] = job::to_string(record.state);
  body["attempts"] = record.attempts;
  if (!record.assignee.empty()) body["worker_id"] = record.assignee.str();
  if (record.wait) {
    body["wait"] = {{"reason", job::to_string(record.wait->reason)},
                    {"detail", record.wait->detail},
                    {"since", to_micros(record.wait->since)},
                    {"ahead_or_beside", backend.store.waiting_in(record.wait->wait_class)}};
  }
  co_return reply_json(200, body);
}

std::expected<Call, Reply> read_placement(Request& request, ReadTools&) {
  return [caller = request.caller, job = JobId(request.parameters[0])](Backend& backend) {
    return placement(backend, caller, job);
  };
}

}  // namespace

void add_placement_routes(Routes& routes) {
  routes.push_back({Method::kPost,
                    "/api/v1/jobs/explain-placement",
                    Access::kRead,
                    read_dry_run,
                    {.operation = "explainPlacement",
                     .summary = "Where a job would go, and why not elsewhere; changes nothing",
                     .body = "ExplainPlacementRequest",
                     .answer = "Placement",
                     .problems = {400}}});
  routes.push_back({Method::kGet,
                    "/api/v1/jobs/{id}/placement",
                    Access::kRead,
                    read_placement,
                    {.operation = "getJobPlacement",
                     .summary = "Why the job is where it is, or waits",
                     .answer = "Placement",
                     .problems = {403, 404, 503}}});
}

}  // namespace fairlead::http
