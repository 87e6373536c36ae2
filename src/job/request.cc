#include "job/request.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"
#include "job/placement_label.h"

namespace fairlead::job {

namespace {

using Map = google::protobuf::Map<std::string, std::string>;

std::string_view find_or_empty(const Map& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

// Errors go to logs: foreign text is shown there, but neither at length nor raw.
std::string shown(std::string_view text) {
  constexpr size_t kShownMax = 64;
  std::string out(text.substr(0, kShownMax));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

bool has_space_or_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f;
  });
}

// Keeps the first rule that a message breaks.
class Rules {
 public:
  void present(const char* field, std::string_view text) {
    if (text.empty()) broken("{} is empty, must be set", field);
  }
  void size(const char* field, std::string_view text, size_t bytes_max) {
    if (text.size() > bytes_max) {
      broken("{} has {} bytes, must have at most {}", field, text.size(), bytes_max);
    }
    // What is not could be written, and never read again.
    if (!is_utf8(text)) broken("{} is \"{}\", must be UTF-8", field, shown(text));
  }
  // A part of keys and subjects. Blanks around it do not count.
  void name(const char* field, std::string_view text, size_t bytes_max) {
    present(field, text);
    std::string_view bare = trim(text);
    size(field, bare, bytes_max);
    if (has_space_or_control(bare)) {
      broken("{} is \"{}\", must be without white space and control characters", field,
             shown(bare));
    }
  }
  void count(const char* field, int entries, size_t entries_max) {
    if (static_cast<size_t>(entries) > entries_max) {
      broken("{} has {} entries, must have at most {}", field, entries, entries_max);
    }
  }
  void labels(const Map& labels) {
    count("labels", static_cast<int>(labels.size()), limits::kLabelsMax);
    size_t bytes = 0;
    size_t placement_bytes = 0;
    for (const auto& [name, value] : labels) {
      const bool content = name == kPromptLabel || name == kPayloadLabel;
      const size_t value_max =
          content ? limits::kContentLabelBytesMax : limits::kLabelValueBytesMax;
      if (!content) bytes += name.size() + value.size();
      if (is_placement_label(name)) placement_bytes += name.size() + value.size();
      if (name.size() > limits::kLabelNameBytesMax) {
        broken("the name of label \"{}\" has {} bytes, must have at most {}", shown(name),
               name.size(), limits::kLabelNameBytesMax);
      }
      if (value.size() > value_max) {
        broken("labels[\"{}\"] has {} bytes, must have at most {}", shown(name), value.size(),
               value_max);
      }
      if (!is_utf8(name) || !is_utf8(value)) {
        broken("label \"{}\" must be UTF-8, in name and value", shown(name));
      }
    }
    if (bytes > limits::kLabelsBytesMax) {
      broken("labels have {} bytes together, must have at most {}", bytes, limits::kLabelsBytesMax);
    }
    if (placement_bytes > limits::kPlacementBytesMax) {
      broken(
          "labels placement.*, constraint.* and node.* have {} bytes together, must have at most "
          "{}",
          placement_bytes, limits::kPlacementBytesMax);
    }
  }
  void range(const char* field, int64_t value, int64_t max) {
    if (value < 0 || value > max) broken("{} is {}, must be from 0 to {}", field, value, max);
  }
  void not_negative(const char* field, int64_t value) {
    if (value < 0) broken("{} is {}, must not be negative", field, value);
  }

  template <class... Args>
  void broken(fmt::format_string<Args...> text, Args&&... args) {
    if (first_broken_.empty()) first_broken_ = fmt::format(text, std::forward<Args>(args)...);
  }

  Result<void> verdict() && {
    if (first_broken_.empty()) return {};
    return fail(ErrorCode::kInvalid, std::move(first_broken_));
  }

 private:
  std::string first_broken_;
};

void trim_in_place(std::string& text) {
  std::string_view bare = trim(text);
  if (bare.size() != text.size()) text = std::string(bare);
}

// A client may ask for any number of milliseconds: the end of time is late enough.
WallTime later_by_ms(WallTime now, int64_t ms) {
  int64_t room_ms = (std::numeric_limits<int64_t>::max() - to_micros(now)) / 1000;
  return now + std::chrono::milliseconds(std::min(ms, room_ms));
}

}  // namespace

Result<void> validate(const cap::JobRequest& request) {
  Rules rules;
  if (size_t bytes = request.ByteSizeLong(); bytes > limits::kRequestBytesMax) {
    rules.broken("the request has {} bytes, must have at most {}", bytes, limits::kRequestBytesMax);
  }
  rules.name("job_id", request.job_id(), limits::kJobIdBytesMax);
  rules.name("topic", request.topic(), limits::kTopicBytesMax);
  rules.range("priority", request.priority(), cap::JobPriority_MAX);
  rules.not_negative("step_index", request.step_index());
  rules.size("principal_id", request.principal_id(), limits::kReferenceBytesMax);
  rules.size("workflow_id", request.workflow_id(), limits::kReferenceBytesMax);
  rules.size("labels[\"workflow_id\"]", find_or_empty(request.labels(), "workflow_id"),
             limits::kReferenceBytesMax);
  rules.size("env[\"team_id\"]", find_or_empty(request.env(), "team_id"),
             limits::kReferenceBytesMax);
  rules.labels(request.labels());

  const cap::JobMetadata& meta = request.meta();
  rules.count("meta.risk_tags", meta.risk_tags_size(), limits::kRiskTagsMax);
  rules.count("meta.requires", meta.requires_size(), limits::kRequiresMax);
  rules.size("meta.idempotency_key", meta.idempotency_key(), limits::kIdempotencyKeyBytesMax);

  const cap::Budget& budget = request.budget();
  rules.range("budget.max_input_tokens", budget.max_input_tokens(), limits::kBudgetTokensMax);
  rules.range("budget.max_output_tokens", budget.max_output_tokens(), limits::kBudgetTokensMax);
  rules.range("budget.max_total_tokens", budget.max_total_tokens(), limits::kBudgetTokensMax);
  rules.not_negative("budget.deadline_ms", budget.deadline_ms());

  std::string_view env_tenant = find_or_empty(request.env(), "tenant_id");
  rules.size("tenant_id", request.tenant_id(), limits::kTenantBytesMax);
  rules.size("env[\"tenant_id\"]", env_tenant, limits::kTenantBytesMax);
  if (contradicts_tenant(request)) {
    rules.broken("tenant_id is \"{}\" and env[\"tenant_id\"] is \"{}\", must be the same",
                 shown(request.tenant_id()), shown(env_tenant));
  }
  return std::move(rules).verdict();
}

Result<void> validate(const TraceId& trace) {
  Rules rules;
  rules.size("trace_id", trace.str(), limits::kTraceIdBytesMax);
  return std::move(rules).verdict();
}

Result<void> validate(const cap::JobResult& result) {
  Rules rules;
  rules.present("job_id", result.job_id());
  rules.size("job_id", result.job_id(), limits::kJobIdBytesMax);
  rules.present("worker_id", result.worker_id());
  rules.size("worker_id", result.worker_id(), limits::kWorkerIdBytesMax);
  rules.size("result_ptr", result.result_ptr(), limits::kReferenceBytesMax);
  if (result.status() == cap::JOB_STATUS_UNSPECIFIED) {
    rules.broken("status is unspecified, must say how the job ended");
  }
  rules.not_negative("execution_ms", result.execution_ms());
  return std::move(rules).verdict();
}

bool contradicts_tenant(const cap::JobRequest& request) {
  std::string_view in_env = find_or_empty(request.env(), "tenant_id");
  return !request.tenant_id().empty() && !in_env.empty() && request.tenant_id() != in_env;
}

void trim_names(cap::JobRequest& request) {
  trim_in_place(*request.mutable_job_id());
  trim_in_place(*request.mutable_topic());
}

TenantId tenant_of(const cap::JobRequest& request) {
  if (!request.tenant_id().empty()) return TenantId(request.tenant_id());
  std::string_view in_env = find_or_empty(request.env(), "tenant_id");
  return in_env.empty() ? TenantId("default") : TenantId(in_env);
}

Record new_record(const cap::JobRequest& request, const TraceId& trace, WallTime now) {
  Record record;
  record.id = JobId(request.job_id());
  record.topic = Topic(request.topic());
  record.tenant = tenant_of(request);
  record.team = find_or_empty(request.env(), "team_id");
  record.principal = request.principal_id();
  record.trace = trace.empty() ? TraceId(request.job_id()) : trace;
  record.workflow_id = request.workflow_id().empty()
                           ? find_or_empty(request.labels(), "workflow_id")
                           : std::string_view(request.workflow_id());
  record.idempotency_key = request.meta().idempotency_key();
  record.priority = request.priority();
  record.request_hash = job_hash(request);
  record.created_at = now;
  record.updated_at = now;
  if (int64_t ms = request.budget().deadline_ms(); ms > 0) record.deadline = later_by_ms(now, ms);
  return record;
}

bool is_ending(cap::JobStatus status) {
  return state_of(status) != State::kFailed || status == cap::JOB_STATUS_FAILED ||
         status == cap::JOB_STATUS_FAILED_FATAL;
}

State state_of(cap::JobStatus status) {
  switch (static_cast<int>(status)) {  // the wire may carry numbers that the enum has no name for
    case cap::JOB_STATUS_SUCCEEDED:
      return State::kSucceeded;
    case cap::JOB_STATUS_FAILED_RETRYABLE:
      return State::kRetrying;
    case cap::JOB_STATUS_TIMEOUT:
      return State::kTimeout;
    case cap::JOB_STATUS_DENIED:
      return State::kDenied;
    case cap::JOB_STATUS_CANCELLED:
      return State::kCancelled;
    default:
      return State::kFailed;
  }
}

cap::JobStatus status_of(State state) {
  switch (state) {
    case State::kPending:
      return cap::JOB_STATUS_PENDING;
    case State::kApprovalRequired:
      return cap::JOB_STATUS_PENDING;
    case State::kScheduled:
      return cap::JOB_STATUS_SCHEDULED;
    case State::kDispatched:
      return cap::JOB_STATUS_DISPATCHED;
    case State::kRunning:
      return cap::JOB_STATUS_RUNNING;
    case State::kRetrying:
      return cap::JOB_STATUS_FAILED_RETRYABLE;
    case State::kSucceeded:
      return cap::JOB_STATUS_SUCCEEDED;
    case State::kFailed:
      return cap::JOB_STATUS_FAILED;
    case State::kTimeout:
      return cap::JOB_STATUS_TIMEOUT;
    case State::kCancelled:
      return cap::JOB_STATUS_CANCELLED;
    case State::kDenied:
      return cap::JOB_STATUS_DENIED;
    case State::kOutputQuarantined:
      return cap::JOB_STATUS_DENIED;
  }
  return cap::JOB_STATUS_UNSPECIFIED;
}

cap::ErrorCode error_code_of(std::string_view reason_code) {
  if (reason_code == "approval_rejected") return cap::ERROR_CODE_SAFETY_DENIED;
  if (reason_code == "policy_denied") return cap::ERROR_CODE_SAFETY_DENIED;
  if (reason_code == "policy_violation") return cap::ERROR_CODE_SAFETY_POLICY_VIOLATION;
  if (reason_code == "max_scheduling_retries") return cap::ERROR_CODE_JOB_RESOURCE_EXHAUSTED;
  if (reason_code == "timeout") return cap::ERROR_CODE_JOB_TIMEOUT;
  if (reason_code == "permission_denied") return cap::ERROR_CODE_JOB_PERMISSION_DENIED;
  return cap::ERROR_CODE_UNSPECIFIED;
}

}  // namespace fairlead::job
