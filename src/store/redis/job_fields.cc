#include "store/redis/job_fields.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <google/protobuf/util/json_util.h>

#include "cordum/agent/v1/safety.pb.h"
#include "job/codec.h"
#include "job/request.h"
#include "store/redis/go_json.h"
#include "store/redis/places.h"

namespace fairlead::store::redis {

namespace {

namespace cap = cordum::agent::v1;
using job::Decision;

struct DecisionName {
  Decision::Kind kind;
  std::string_view name;
};
constexpr DecisionName kDecisionNames[] = {
    {Decision::Kind::kAllow, "ALLOW"},
    {Decision::Kind::kAllowWithConstraints, "ALLOW_WITH_CONSTRAINTS"},
    {Decision::Kind::kDeny, "DENY"},
    {Decision::Kind::kRequireApproval, "REQUIRE_APPROVAL"},
    {Decision::Kind::kThrottle, "THROTTLE"},
    {Decision::Kind::kUnavailable, "UNAVAILABLE"},
};

std::string name_of(Decision::Kind kind) {
  for (const DecisionName& known : kDecisionNames) {
    if (known.kind == kind) return std::string(known.name);
  }
  return {};
}

Decision::Kind decision_kind(std::string_view name) {
  for (const DecisionName& known : kDecisionNames) {
    if (known.name == name) return known.kind;
  }
  return name.empty() ? Decision::Kind::kNone : Decision::Kind::kUnknown;
}

std::string micros(WallTime time) {
  return std::to_string(to_micros(time));
}

std::string micros(const std::optional<WallTime>& time) {
  return time ? micros(*time) : std::string();
}

std::string json_list(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    out += json_quoted(text);
  }
  return out + "]";
}

std::string json_labels(const cap::JobRequest& request) {
  std::map<std::string, std::string> labels(request.labels().begin(), request.labels().end());
  for (const auto& [name, value] : request.meta().labels()) labels[name] = value;
  std::string out = "{";
  for (const auto& [name, value] : labels) {
    if (out.size() > 1) out += ',';
    out += json_quoted(name) + ":" + json_quoted(value);
  }
  return out + "}";
}

// Empty: there are none, or none that can be read.
std::string constraints_json(const Decision& decision) {
  cap::PolicyConstraints constraints;
  std::string json;
  const bool read = !decision.constraints.empty() &&
                    constraints.ParseFromString(decision.constraints) &&
                    google::protobuf::util::MessageToJsonString(constraints, &json).ok();
  return read ? json : std::string();
}

void add_decision(Fields& fields, const job::Record& record) {
  const Decision& decision = record.decision;
  bool approval = decision.kind == Decision::Kind::kRequireApproval;
  fields.emplace_back("safety_decision", name_of(decision.kind));
  fields.emplace_back("safety_reason", decision.reason);
  fields.emplace_back("safety_rule_id", decision.rule_id);
  fields.emplace_back("safety_snapshot", decision.policy_snapshot);
  fields.emplace_back("safety_approval_ref", approval ? record.id.str() : std::string());
  fields.emplace_back("safety_checked_at", micros(decision.checked_at));
  fields.emplace_back("safety_approval_required", approval ? "true" : "");
  if (approval) fields.emplace_back("safety_job_hash", record.request_hash);
  if (std::string json = constraints_json(decision); !json.empty()) {
    fields.emplace_back("safety_constraints", std::move(json));
  }
}

std::string_view actor_type(cap::ActorType type) {
  switch (static_cast<int>(type)) {
    case cap::ACTOR_TYPE_HUMAN:
      return "human";
    case cap::ACTOR_TYPE_SERVICE:
      return "service";
    default:
      return "";
  }
}

}  // namespace

Fields fields_of(const job::Record& record, const std::vector<job::State>& path, bool admits) {
  Fields fields = {
      {"state", job::to_string(record.state)},
      {"updated_at", micros(record.updated_at)},
      {"attempts", std::to_string(record.attempts)},
      {"fl_rev", std::to_string(record.revision.value())},
      {"fl_rec", job::encode(record)},
  };
  if (admits) {
    fields.emplace_back("topic", record.topic.str());
    fields.emplace_back("tenant", record.tenant.str());
    fields.emplace_back("team", record.team);
    fields.emplace_back("principal", record.principal);
    fields.emplace_back("trace_id", record.trace.str());
    fields.emplace_back("fl_created", micros(record.created_at));
    if (record.deadline && !job::is_terminal(record.state)) {
      fields.emplace_back("deadline_unix", micros(record.deadline));
    }
    if (!record.idempotency_key.empty()) {
      fields.emplace_back("idempotency_key", record.idempotency_key);
    }
  }
  bool dispatches = std::ranges::count(path, job::State::kDispatched) > 0;
  if (dispatches) fields.emplace_back("worker_id", record.assignee.str());
  if (job::is_terminal(record.state)) {
    if (!record.result_ptr.empty()) fields.emplace_back("result_ptr", record.result_ptr);
    if (!record.error_message.empty()) fields.emplace_back("failure_reason", record.error_message);
  }
  if (writes_decision(record, path, admits)) add_decision(fields, record);
  return fields;
}

// A decision that was made before the job was handed out was written then at the latest.
bool writes_decision(const job::Record& record, const std::vector<job::State>& path, bool admits) {
  if (record.decision.kind == Decision::Kind::kNone) return false;
  const bool dispatches = std::ranges::count(path, job::State::kDispatched) > 0;
  return admits || dispatches || record.decision.checked_at > record.dispatched_at;
}

std::string decision_json(const job::Record& record) {
  const Decision& decision = record.decision;
  const bool approval = decision.kind == Decision::Kind::kRequireApproval;
  const std::string constraints = constraints_json(decision);
  return fmt::format(
      R"({{"decision":{},"reason":{},"rule_id":{},"policy_snapshot":{},"constraints":{},)"
      R"("remediations":null,"approval_required":{},"approval_ref":{},"job_hash":{},)"
      R"("checked_at":{}}})",
      json_quoted(name_of(decision.kind)), json_quoted(decision.reason),
      json_quoted(decision.rule_id), json_quoted(decision.policy_snapshot),
      constraints.empty() ? "null" : constraints, approval,
      json_quoted(approval ? record.id.str() : ""), json_quoted(record.request_hash),
      to_micros(decision.checked_at));
}

Fields fields_of(const cap::JobRequest& request) {
  const cap::JobMetadata& meta = request.meta();
  Fields fields = {{"memory_id", request.memory_id()}};
  auto add_if_there = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) fields.emplace_back(name, value);
  };
  add_if_there("actor_id", meta.actor_id().empty() ? request.principal_id() : meta.actor_id());
  add_if_there("actor_type", actor_type(meta.actor_type()));
  add_if_there("capability", meta.capability());
  add_if_there("pack_id", meta.pack_id());
  if (!meta.risk_tags().empty()) fields.emplace_back("risk_tags", json_list(meta.risk_tags()));
  if (!meta.requires_().empty()) fields.emplace_back("requires", json_list(meta.requires_()));
  if (!request.labels().empty() || !meta.labels().empty()) {
    fields.emplace_back("labels", json_labels(request));
  }
  return fields;
}

namespace {

// The fields of a hash that a Go service wrote.
class GoFields {
 public:
  explicit GoFields(Reply& list) {
    for (size_t i = 0; i + 1 < list.items.size(); i += 2) {
      values_[list.items[i].text] = std::move(list.items[i + 1].text);
    }
  }
  std::string text(const char* name) const {
    auto found = values_.find(name);
    return found == values_.end() ? std::string() : found->second;
  }
  int64_t number(const char* name) const { return std::strtoll(text(name).c_str(), nullptr, 10); }
  WallTime time(const char* name) const { return wall_time_from_micros(number(name)); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

Decision decision_from(const GoFields& fields) {
  Decision decision;
  decision.kind = decision_kind(fields.text("safety_decision"));
  if (decision.kind == Decision::Kind::kNone) return decision;
  decision.reason = fields.text("safety_reason");
  decision.rule_id = fields.text("safety_rule_id");
  decision.policy_snapshot = fields.text("safety_snapshot");
  decision.checked_at = fields.time("safety_checked_at");
  cap::PolicyConstraints constraints;
  std::string json = fields.text("safety_constraints");
  if (!json.empty() && google::protobuf::util::JsonStringToMessage(json, &constraints).ok()) {
    decision.constraints = job::serialise(constraints);
  }
  return decision;
}

std::optional<WallTime> due_of(std::string_view places) {
  std::string due = Places::unpack(places).due;
  if (due.empty()) return std::nullopt;
  return wall_time_from_micros(std::strtoll(due.c_str(), nullptr, 10));
}

// A Go service handed it out: it knows no epochs, and its worker's result counts.
void follow_dispatch(job::Record& record) {
  if (!job::holds_worker_slot(record) || record.epoch != Epoch()) return;
  record.epoch = Epoch(1);
  record.deliveries = 1;
  record.dispatched_at = record.updated_at;
}

// A Go service that approves has compared the request with the hash that was to be approved.
std::optional<job::Approval> approval_from(std::string_view decision, std::string job_hash,
                                           std::string snapshot, std::string by,
                                           const job::Record& record) {
  if (decision != "approve" || job::is_terminal(record.state)) return std::nullopt;
  if (job_hash.empty()) job_hash = record.request_hash;
  if (snapshot.empty()) snapshot = record.decision.policy_snapshot;
  return job::Approval{std::move(job_hash), std::move(snapshot), std::move(by)};
}

Result<Found> job_of_go(const JobId& id, Reply& bundle) {
  GoFields fields(bundle.at(2));
  Found found;
  cap::JobRequest request;
  request.set_job_id(id.str());
  if (!bundle.at(3).none()) {
    auto parsed = request_from_protojson(bundle.at(3).text);
    if (!parsed) return std::unexpected(parsed.error());
    request = *std::move(parsed);
    found.request = job::serialise(request);
  }
  std::vector<job::Event> history;
  for (Reply& item : bundle.at(4).items) {
    if (auto event = parse_event(item.text)) history.push_back(*std::move(event));
  }
  auto state = job::parse_state(fields.text("state"));
  if (!state) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("job {} is in no known state: {}", id.str(), fields.text("state")));
  }

  WallTime updated = fields.time("updated_at");
  WallTime created = history.empty() ? updated : history.front().at;
  job::Record& record = found.record;
  record = job::new_record(request, TraceId(fields.text("trace_id")), created);
  record.id = id;
  record.state = *state;
  record.revision = Revision(bundle.at(0).unsigned_number());
  record.updated_at = updated;
  record.attempts = static_cast<uint32_t>(fields.number("attempts"));
  if (record.topic.empty()) record.topic = Topic(fields.text("topic"));
  // Without a request the hash is all there is.
  if (found.request.empty()) {
    record.request_hash.clear();
    if (auto tenant = fields.text("tenant"); !tenant.empty()) record.tenant = TenantId(tenant);
    record.team = fields.text("team");
    record.principal = fields.text("principal");
    record.idempotency_key = fields.text("idempotency_key");
  }
  if (fields.number("deadline_unix") > 0) record.deadline = fields.time("deadline_unix");
  record.due = due_of(fields.text("fl_places"));
  record.assignee = WorkerId(fields.text("worker_id"));
  follow_dispatch(record);
  record.result_ptr = fields.text("result_ptr");
  record.error_message = fields.text("failure_reason");
  record.decision = decision_from(fields);
  record.approval =
      approval_from(fields.text("approval_decision"), std::string(fields.text("approval_job_hash")),
                    std::string(fields.text("approval_policy_snapshot")),
                    std::string(fields.text("approval_by")), record);
  record.history = std::move(history);
  if (job::is_terminal(record.state)) record.deadline.reset();
  return found;
}

// What a Go service changed since the record was written.
void follow_go(job::Record& record, Reply& bundle) {
  auto state = job::parse_state(bundle.at(2).text);
  WallTime updated = wall_time_from_micros(bundle.at(3).number());
  if (!state || (*state == record.state && updated == record.updated_at)) return;
  bool moved = *state != record.state;
  record.state = *state;
  record.updated_at = updated;
  record.attempts = static_cast<uint32_t>(bundle.at(4).number());
  if (!bundle.at(5).none()) record.result_ptr = bundle.at(5).text;
  if (!bundle.at(6).none()) record.error_message = bundle.at(6).text;
  job::add_event(record, updated, {});
  // Who says that it is out has handed it out, and does not say to whom.
  if (*state == job::State::kDispatched || *state == job::State::kRunning) {
    record.assignee = WorkerId();
  }
  if (!moved) return;
  if (Reply& approval = bundle.at(8); !approval.none()) {
    record.approval = approval_from(approval.at(0).text, approval.at(1).text, approval.at(2).text,
                                    approval.at(3).text, record);
  }
  // Whatever we had in mind for it is over.
  record.wait.reset();
  record.publish_pending = false;
  record.due = due_of(bundle.at(7).text);
  if (job::is_terminal(record.state)) record.deadline.reset();
  follow_dispatch(record);
}

// The request's bytes, with the labels that a Go service's approval wrote beside them.
std::string request_of(Reply& bundle) {
  std::string bytes = std::move(bundle.at(9).text);
  if (bundle.at(10).none()) return bytes;
  auto other = request_from_protojson(bundle.at(10).text);
  if (!other) return bytes;
  if (bytes.empty()) return job::serialise(*other);
  cap::JobRequest request;
  if (!request.ParseFromString(bytes)) return bytes;
  bool changed = false;
  for (const auto& [name, value] : other->labels()) {
    auto ours = request.labels().find(name);
    if (ours != request.labels().end() && ours->second == value) continue;
    (*request.mutable_labels())[name] = value;
    changed = true;
  }
  return changed ? job::serialise(request) : bytes;
}

}  // namespace

Result<Found> found_job(const JobId& id, Reply bundle, bool with_request) {
  if (bundle.at(1).none()) return job_of_go(id, bundle);
  auto record = job::decode(bundle.at(1).text);
  if (!record) return std::unexpected(record.error());
  Found found{*std::move(record), {}};
  found.record.revision = Revision(bundle.at(0).unsigned_number());
  follow_go(found.record, bundle);
  if (with_request) found.request = request_of(bundle);
  return found;
}

}  // namespace fairlead::store::redis
