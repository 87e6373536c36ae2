#include "job/codec.h"

#include <fmt/core.h>

#include "job/archive.h"

namespace fairlead::job {

static constexpr uint8_t kVersion = 1;

// What archive.h asks of a struct and of an enum; it finds them by their argument, which it could
// not do in an unnamed namespace.

static constexpr State last_of(State) {
  return kAllStates.back();
}
static constexpr ReasonCode last_of(ReasonCode) {
  return kAllReasonCodes.back();
}
static constexpr ReasonCode unknown_of(ReasonCode) {
  return ReasonCode::kNone;
}
static constexpr Decision::Kind last_of(Decision::Kind) {
  return Decision::Kind::kUnknown;
}
static constexpr Decision::Kind unknown_of(Decision::Kind) {
  return Decision::Kind::kUnknown;
}

static void fields(auto& archive, Like<Event> auto& event) {
  archive(1, event.at);
  archive(2, event.state);
  archive(3, event.epoch);
  archive(4, event.note);
}

static void fields(auto& archive, Like<Decision> auto& decision) {
  archive(1, decision.kind);
  archive(2, decision.reason);
  archive(3, decision.rule_id);
  archive(4, decision.policy_snapshot);
  archive(5, decision.constraints);
  archive(6, decision.checked_at);
}

static void fields(auto& archive, Like<Approval> auto& approval) {
  archive(1, approval.job_hash);
  archive(2, approval.policy_snapshot);
  archive(3, approval.by);
}

static void fields(auto& archive, Like<Wait> auto& wait) {
  archive(1, wait.reason);
  archive(2, wait.detail);
  archive(3, wait.wait_class);
  archive(4, wait.since);
  archive(5, wait.queued_at);
}

static void fields(auto& archive, Like<OpenEpoch> auto& open) {
  archive(1, open.epoch);
  archive(2, open.worker);
}

static void fields(auto& archive, Like<Record> auto& record) {
  archive(1, record.id);
  archive(2, record.state);
  archive(3, record.revision);
  archive(4, record.topic);
  archive(5, record.tenant);
  archive(6, record.team);
  archive(7, record.principal);
  archive(8, record.trace);
  archive(9, record.workflow_id);
  archive(10, record.idempotency_key);
  archive(11, record.priority);
  archive(12, record.request_hash);
  archive(13, record.created_at);
  archive(14, record.updated_at);
  archive(15, record.deadline);
  archive(16, record.due);
  archive(17, record.epoch);
  archive(18, record.assignee);
  archive(19, record.dispatched_at);
  archive(20, record.publish_pending);
  // 21 was the lease token of the dispatch.
  archive(22, record.open_epochs);
  archive(23, record.worker_lost);
  archive(24, record.attempts);
  archive(25, record.deliveries);
  archive(26, record.decision);
  archive(27, record.wait);
  archive(28, record.last_result.sequence);
  archive(29, record.result_ptr);
  archive(30, record.reason);
  archive(31, record.error_code);
  archive(32, record.error_message);
  archive(33, record.execution_ms);
  archive(34, record.history);
  archive(35, record.error_number);
  archive(36, record.first_sign_at);
  archive(37, record.last_result.stored_at);
  archive(38, record.results_seen.sequence);
  archive(39, record.results_seen.stored_at);
  archive(40, record.past_decisions);
  archive(41, record.approval);
}

void encode(const Record& record, std::string& out) {
  out.push_back(static_cast<char>(kVersion));
  FieldWriter(out).put_message(record);
}

std::string encode(const Record& record) {
  std::string out;
  encode(record, out);
  return out;
}

size_t text_bytes(const Record& record) {
  TextCounter counter;
  fields(counter, record);
  return counter.bytes();
}

Result<Record> decode(std::string_view bytes) {
  if (bytes.empty()) return fail(ErrorCode::kCorrupt, "job record: no bytes");
  auto version = static_cast<uint8_t>(bytes.front());
  if (version != kVersion) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("job record: version {}, this program reads {}", version, kVersion));
  }

  std::string_view body = bytes.substr(1);
  uint64_t length = 0;
  if (!take_varint(body, length) || length != body.size()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("job record: cut short or run over at {} bytes", bytes.size()));
  }

  Record record;
  FieldReader reader(body);
  fields(reader, record);
  if (!reader.finish()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("job record: malformed field within {} bytes", bytes.size()));
  }
  return record;
}

}  // namespace fairlead::job
