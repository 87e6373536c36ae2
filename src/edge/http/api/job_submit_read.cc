// Reading the body of POST /jobs. Unknown keys are tolerated there, as clients expect.
#include <algorithm>

#include <fmt/core.h>

#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/job_submit.h"
#include "edge/http/api/json_text.h"
#include "edge/http/api/text.h"
#include "job/request.h"

namespace fairlead::http {

namespace {

namespace cap = cordum::agent::v1;

constexpr size_t kPromptBytesMax = 4 * limits::kPromptCharactersMax;

// What is no known priority is interactive.
cap::JobPriority priority_of(std::string_view text) {
  if (text == "batch") return cap::JOB_PRIORITY_BATCH;
  if (text == "critical") return cap::JOB_PRIORITY_CRITICAL;
  return cap::JOB_PRIORITY_INTERACTIVE;
}

void read_actor(Fields& fields, cap::JobMetadata& meta) {
  meta.set_actor_id(fields.text("actor_id"));
  std::string type = fields.text("actor_type");
  if (type == "human") {
    meta.set_actor_type(cap::ACTOR_TYPE_HUMAN);
  } else if (type == "service") {
    meta.set_actor_type(cap::ACTOR_TYPE_SERVICE);
  } else if (!type.empty()) {
    fields.refuse(fmt::format("actor_type is \"{}\", must be human or service", type));
  }
}

// Names that begin with '_' are the server's: two families are refused, the rest is left out.
void read_labels(Fields& fields, cap::JobRequest& request) {
  for (auto& [name, value] :
       fields.pairs("labels", limits::kSubmitLabelsMax, limits::kLabelNameBytesMax,
                    limits::kLabelValueBytesMax)) {
    if (name.starts_with("_governance.") || name.starts_with("_ma.")) {
      fields.refuse(fmt::format("labels.{} is set by the server only", name));
    }
    if (!name.starts_with('_')) (*request.mutable_labels())[name] = std::move(value);
  }
}

void read_limits(Fields& fields, cap::JobRequest& request) {
  cap::Budget& budget = *request.mutable_budget();
  constexpr int64_t kMax = limits::kBudgetTokensMax;
  int64_t input = fields.number("max_input_tokens", 0, kMax).value_or(8000);
  budget.set_max_input_tokens(input);
  budget.set_max_output_tokens(fields.number("max_output_tokens", 0, kMax).value_or(1024));
  budget.set_max_total_tokens(fields.number("max_total_tokens", 0, kMax).value_or(0));
  budget.set_deadline_ms(fields.number("deadline_ms").value_or(0));
  cap::ContextHints& hints = *request.mutable_context_hints();
  hints.set_max_input_tokens(
      static_cast<int32_t>(std::min<int64_t>(input, std::numeric_limits<int32_t>::max())));
  hints.set_allow_summarization(fields.flag("allow_summarization"));
  hints.set_allow_retrieval(fields.flag("allow_retrieval"));
  for (std::string& tag :
       fields.texts("tags", limits::kSubmitTagsMax, limits::kLabelNameBytesMax)) {
    hints.add_tags(std::move(tag));
  }
}

void read_meta(Fields& fields, cap::JobMetadata& meta) {
  read_actor(fields, meta);
  meta.set_capability(fields.text("capability"));
  meta.set_pack_id(fields.text("pack_id"));
  for (std::string& tag : fields.texts("risk_tags", limits::kSubmitLabelsMax, 256)) {
    meta.add_risk_tags(std::move(tag));
  }
  for (std::string& need : fields.texts("requires", limits::kSubmitLabelsMax, 256)) {
    meta.add_requires(std::move(need));
  }
}

std::string read_key(Fields& fields, const Request& request) {
  std::string key = fields.text("idempotency_key", limits::kIdempotencyKeyBytesMax);
  for (const char* header : {"idempotency-key", "x-idempotency-key"}) {
    std::string_view given = trim(request.header(header));
    if (given.empty()) continue;
    if (given.size() > limits::kIdempotencyKeyBytesMax) {
      fields.refuse(fmt::format("the header {} has {} bytes, must have at most {}", header,
                                given.size(), limits::kIdempotencyKeyBytesMax));
    }
    if (!key.empty() && key != given) {
      fields.refuse(
          fmt::format("idempotency_key is \"{}\" in the body and \"{}\" in the header, "
                      "must be the same",
                      key, given.substr(0, 64)));
    }
    key = given;
  }
  return key;
}

void read_environment(Fields& fields, cap::JobRequest& request) {
  auto& env = *request.mutable_env();
  for (const char* name : {"org_id", "team_id", "project_id"}) {
    if (std::string text = fields.text(name); !text.empty()) env[name] = text;
  }
  std::string mode = fields.text("context_mode");
  if (!mode.empty() && mode != "raw" && mode != "chat" && mode != "rag") {
    fields.refuse(fmt::format("context_mode is \"{}\", must be raw, chat or rag", mode));
  }
  if (!mode.empty()) env["context_mode"] = mode;
}

}  // namespace

std::expected<Submission, Reply> read_submission(const Request& request, ReadTools& tools) {
  auto given = parse_body_without(request.body, "context");
  if (!given) return std::unexpected(problem(400, given.error().message, "invalid_json"));
  Fields fields(given->body, Fields::Unknown::kTolerated);

  std::string prompt = fields.text("prompt", kPromptBytesMax);
  if (size_t count = characters(prompt); count == 0 || count > limits::kPromptCharactersMax) {
    fields.refuse(fmt::format("prompt has {} characters, must have 1 to {}", count,
                              limits::kPromptCharactersMax));
  }
  std::string topic = fields.optional_text("topic", limits::kTopicBytesMax).value_or("job.default");
  if (!is_topic(topic)) {
    fields.refuse(fmt::format("topic is \"{}\", {}", topic, kTopicRule));
  }

  cap::JobRequest job;
  job.set_topic(topic);
  job.set_priority(priority_of(fields.text("priority")));
  job.set_adapter_id(fields.text("adapter_id"));
  job.set_memory_id(fields.text("memory_id"));
  job.set_principal_id(fields.text("principal_id"));
  const bool another = request.caller.principal_bound && !job.principal_id().empty() &&
                       job.principal_id() != request.caller.principal;
  if (job.principal_id().empty()) job.set_principal_id(request.caller.principal);
  read_environment(fields, job);
  read_limits(fields, job);
  read_meta(fields, *job.mutable_meta());
  read_labels(fields, job);
  std::string key = read_key(fields, request);
  std::string tenant = fields.text("tenant_id", limits::kTenantBytesMax);
  if (auto wrong = fields.problem()) return std::unexpected(*std::move(wrong));

  if (another) {
    return std::unexpected(problem(403, "principal access denied", "principal_access_denied"));
  }
  TenantId owner = tenant.empty() ? request.caller.tenant : TenantId(tenant);
  if (!request.caller.sees(owner)) {
    return std::unexpected(problem(403, "tenant access denied", "tenant_access_denied"));
  }

  Submission submission;
  submission.tenant = owner;
  submission.topic = Topic(topic);
  submission.key = key;
  submission.job = JobId(submission.keyed() ? named_uuid("job\n" + owner.str() + "\n" + key)
                                            : random_uuid(tools.random));
  submission.trace = TraceId(random_uuid(tools.random));
  WallTime now = tools.clock.wall();

  json::object kept{{"prompt", prompt},
                    {"adapter_id", job.adapter_id()},
                    {"priority", cap::JobPriority_Name(job.priority())},
                    {"topic", topic},
                    {"created_at", rfc3339(now)},
                    {"tenant_id", owner.str()}};
  auto& labels = *job.mutable_labels();
  // What policy may look at, if it is not too long.
  auto add_content = [&](std::string_view name, std::string_view content) {
    if (content.size() > limits::kContentLabelBytesMax) return;
    labels[std::string(name)] = std::string(content);
  };
  add_content(job::kPromptLabel, prompt);
  submission.context = json::serialize(kept);
  if (!given->text.empty()) {
    std::string payload = plain_json(given->text);
    add_content(job::kPayloadLabel, payload);
    submission.context.back() = ',';
    submission.context.append(R"("context":)").append(payload).append("}");
  }

  job.set_job_id(submission.job.str());
  job.set_tenant_id(owner.str());
  job.set_context_ptr(pointer_to(context_key(submission.job.str())));
  job.mutable_meta()->set_tenant_id(owner.str());
  job.mutable_meta()->set_idempotency_key(key);
  (*job.mutable_env())["tenant_id"] = owner.str();
  labels["_source"] = job.meta().pack_id().empty() ? "api" : "pack";
  if (submission.context.find("secret://") != std::string::npos) {
    job.mutable_meta()->add_risk_tags("secrets");
    labels["secrets_present"] = "true";
  }
  if (auto valid = job::validate(job); !valid) {
    return std::unexpected(problem(400, valid.error().message, "invalid_request"));
  }
  submission.packet = submit_packet(std::move(job), submission.trace, now);
  return submission;
}

}  // namespace fairlead::http
