#include "edge/http/api/job_json.h"

#include <ranges>

#include <google/protobuf/util/json_util.h>

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "cordum/agent/v1/safety.pb.h"
#include "edge/http/api/text.h"
#include "job/codec.h"
#include "job/wire_fields.h"

namespace fairlead::http {

namespace {

namespace cap = cordum::agent::v1;
using job::State;

// Rows of a list that are made before others have their turn: their requests may be long.
constexpr size_t kRowsAtOnce = 16;

void put(json::object& object, const char* name, std::string_view text) {
  if (!text.empty()) object[name] = text;
}

template <class List>
void put_list(json::object& object, const char* name, const List& list) {
  if (list.empty()) return;
  json::array array;
  for (const std::string& entry : list) array.emplace_back(entry);
  object[name] = std::move(array);
}

template <class Map>
json::object labels_of(const Map& map) {
  // By name: a hash map's order is nobody's business.
  std::map<std::string, std::string> sorted(map.begin(), map.end());
  json::object labels;
  for (const auto& [name, value] : sorted) labels[name] = value;
  return labels;
}

std::string actor_type(cap::ActorType type) {
  switch (static_cast<int>(type)) {
    case cap::ACTOR_TYPE_HUMAN:
      return "human";
    case cap::ACTOR_TYPE_SERVICE:
      return "service";
    default:
      return "";
  }
}

json::value constraints_json(const std::string& bytes) {
  cap::PolicyConstraints constraints;
  if (bytes.empty() || !constraints.ParseFromString(bytes)) return nullptr;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(constraints, &text, options).ok()) {
    return nullptr;
  }
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  return error ? json::value(nullptr) : value;
}

void put_decision(json::object& object, const job::Decision& decision) {
  put(object, "safety_decision", to_string(decision.kind));
  put(object, "safety_reason", decision.reason);
  put(object, "safety_rule_id", decision.rule_id);
  put(object, "safety_snapshot", decision.policy_snapshot);
}

void put_request(json::object& object, const cap::JobRequest& request) {
  const cap::JobMetadata& meta = request.meta();
  put(object, "actor_id", meta.actor_id());
  put(object, "actor_type", actor_type(meta.actor_type()));
  put(object, "capability", meta.capability());
  put(object, "pack_id", meta.pack_id());
  put_list(object, "risk_tags", meta.risk_tags());
  put_list(object, "requires", meta.requires_());
}

std::optional<WallTime> first_time_in(const job::Record& record, State state) {
  for (const job::Event& event : record.history) {
    if (event.state == state) return event.at;
  }
  return std::nullopt;
}

cap::JobRequest parsed(const ShownJob& job) {
  cap::JobRequest request;
  request.ParseFromString(job.request);
  return request;
}

json::object common(const ShownJob& job, const cap::JobRequest& request, bool times_as_text) {
  const job::Record& record = job.record;
  json::object object;
  object["id"] = record.id.str();
  object["updated_at"] = shown_time(record.updated_at, times_as_text);
  object["state"] = job::to_string(record.state);
  put(object, "worker_id", record.assignee.str());
  put(object, "trace_id", record.trace.str());
  put(object, "topic", record.topic.str());
  put(object, "tenant", record.tenant.str());
  put(object, "team", record.team);
  put(object, "principal", record.principal);
  put(object, "idempotency_key", record.idempotency_key);
  object["attempts"] = record.attempts;
  put_request(object, request);
  put_decision(object, record.decision);
  if (record.deadline) {
    object["deadline_unix"] = to_micros(*record.deadline) / 1'000'000;
  }
  return object;
}

bool ended_badly(State state) {
  return state == State::kFailed || state == State::kTimeout || state == State::kOutputQuarantined;
}

}  // namespace

json::value shown_time(WallTime time, bool as_text) {
  if (as_text) return json::value(rfc3339(time));
  return to_micros(time);
}

const char* to_string(job::Decision::Kind kind) {
  using Kind = job::Decision::Kind;
  switch (kind) {
    case Kind::kNone:
      return "";
    case Kind::kAllow:
      return "ALLOW";
    case Kind::kAllowWithConstraints:
      return "ALLOW_WITH_CONSTRAINTS";
    case Kind::kDeny:
      return "DENY";
    case Kind::kRequireApproval:
      return "REQUIRE_APPROVAL";
    case Kind::kThrottle:
      return "THROTTLE";
    case Kind::kUnavailable:
      return "UNAVAILABLE";
    case Kind::kUnknown:
      return "UNKNOWN";
  }
  return "";
}

json::object job_item(const ShownJob& job, bool times_as_text) {
  json::object object = common(job, parsed(job), times_as_text);
  put(object, "failure_reason", job.record.error_message);
  return object;
}

json::object job_detail(const ShownJob& job, bool times_as_text) {
  const job::Record& record = job.record;
  cap::JobRequest request = parsed(job);
  json::object object = common(job, request, times_as_text);
  object["created_at"] = shown_time(record.created_at, times_as_text);
  auto started = record.first_sign_at;
  if (!started) started = first_time_in(record, State::kRunning);
  if (!started) started = first_time_in(record, State::kDispatched);
  if (started) object["started_at"] = shown_time(*started, times_as_text);
  if (job::is_terminal(record.state)) {
    object["finished_at"] = shown_time(record.updated_at, times_as_text);
  }
  put(object, "context_ptr", request.context_ptr());
  put(object, "result_ptr", record.result_ptr);
  if (json::value constraints = constraints_json(record.decision.constraints);
      !constraints.is_null()) {
    object["safety_constraints"] = std::move(constraints);
  }
  put(object, "safety_job_hash", record.request_hash);
  object["approval_required"] = record.state == State::kApprovalRequired;
  object["labels"] = labels_of(request.labels());
  put(object, "workflow_id", record.workflow_id);
  auto label = [&](const char* name) {
    auto found = request.labels().find(name);
    return found == request.labels().end() ? std::string() : found->second;
  };
  put(object, "run_id", label("run_id"));
  put(object, "step_id", label("step_id"));
  object["deliveries"] = record.deliveries;
  if (record.wait) {
    object["wait"] = {{"reason", job::to_string(record.wait->reason)},
                      {"detail", record.wait->detail},
                      {"since", shown_time(record.wait->since, times_as_text)}};
  }
  if (record.state == State::kCancelled) put(object, "failure_reason", record.error_message);
  if (ended_badly(record.state)) {
    put(object, "error_message", record.error_message);
    object["error_status"] = job::to_string(record.state);
    put(object, "error_code", record.error_code);
    if (record.history.size() > 1) {
      object["last_state"] = job::to_string(record.history[record.history.size() - 2].state);
    }
  }
  return object;
}

size_t ShownJob::bytes() const {
  return sizeof(ShownJob) + job::text_bytes(record) + request.size();
}

// Of a request, found without parsing all of it, what job_item shows; as a request.
static std::string listed_part(std::string_view request) {
  std::string pieces;
  job::WireFields fields(request);
  while (fields.next()) {
    if (fields.number() == cap::JobRequest::kMetaFieldNumber) pieces += fields.bytes();
  }
  cap::JobRequest listed;
  if (!listed.mutable_meta()->ParseFromString(pieces)) return "";
  listed.mutable_meta()->clear_labels();
  return listed.SerializeAsString();
}

static ShownJob row_of(job::Record record, std::string_view request) {
  record.history = {};
  record.past_decisions = {};
  record.decision.constraints = {};
  return {std::move(record), listed_part(request)};
}

Task<Result<JobRows>> job_rows(Backend& backend, std::vector<job::Record> records) {
  JobRows rows;
  rows.jobs.reserve(records.size());
  for (job::Record& record : records) {
    Result<store::Loaded> loaded =
        co_await backend.store.load(record.id, {.with_request = true, .lease = {}});
    if (!loaded) co_return std::unexpected(loaded.error());
    if (rows.jobs.size() % kRowsAtOnce == kRowsAtOnce - 1) {
      if (auto turn = co_await backend.loop.delay(Duration(0)); !turn) {
        co_return std::unexpected(turn.error());
      }
    }
    rows.jobs.push_back(row_of(std::exchange(record, {}), loaded->request));
    rows.bytes += rows.jobs.back().bytes();
  }
  co_return rows;
}

json::array job_items(const JobRows& rows, bool times_as_text) {
  json::array items;
  for (const ShownJob& job : rows.jobs) items.push_back(job_item(job, times_as_text));
  return items;
}

static json::object decision_json(const job::Record& record, const job::Decision& decision) {
  json::object object;
  object["decision"] = to_string(decision.kind);
  object["reason"] = decision.reason;
  object["rule_id"] = decision.rule_id;
  object["policy_snapshot"] = decision.policy_snapshot;
  object["constraints"] = constraints_json(decision.constraints);
  object["approval_required"] = decision.kind == job::Decision::Kind::kRequireApproval;
  object["job_hash"] = record.request_hash;
  object["checked_at"] = to_micros(decision.checked_at);
  return object;
}

json::array job_decisions(const job::Record& record, size_t limit) {
  json::array all;
  if (record.decision.kind == job::Decision::Kind::kNone) return all;
  all.push_back(decision_json(record, record.decision));
  for (const job::Decision& past : record.past_decisions | std::views::reverse) {
    if (all.size() >= limit) break;
    all.push_back(decision_json(record, past));
  }
  return all;
}

json::array job_timeline(const job::Record& record) {
  json::array all;
  for (const job::Event& event : record.history) {
    json::object object;
    object["time"] = rfc3339(event.at);
    object["at"] = to_micros(event.at);
    object["state"] = job::to_string(event.state);
    object["epoch"] = event.epoch.value();
    put(object, "note", event.note);
    const bool last = &event == &record.history.back();
    if (last && job::is_terminal(record.state)) put(object, "reason", record.error_message);
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace fairlead::http
