// Names, numbers and types of package cordum.v1, all of them: they are a contract with services
// that were built from other copies of the files.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "cordum/v1/api.pb.h"
#include "cordum/v1/context.pb.h"
#include "cordum/v1/output_policy.pb.h"

namespace {

namespace pb = google::protobuf;

// What stands in one message, enum or service, by its name.
using Contents = std::map<std::string, std::string>;

std::string type_of(const pb::FieldDescriptor& field) {
  if (field.message_type()) return field.message_type()->name();
  if (field.enum_type()) return field.enum_type()->name();
  return field.type_name();
}

std::string text_of(const pb::FieldDescriptor& field) {
  std::string text = field.name() + " " + std::to_string(field.number()) + " ";
  if (field.is_map()) {
    const pb::Descriptor& entry = *field.message_type();
    return text + "map<" + type_of(*entry.map_key()) + "," + type_of(*entry.map_value()) + ">";
  }
  return text + (field.is_repeated() ? "repeated " : "") + type_of(field);
}

std::string text_of(const pb::EnumValueDescriptor& value) {
  return value.name() + " " + std::to_string(value.number());
}

std::string text_of(const pb::MethodDescriptor& method) {
  return method.name() + "(" + method.input_type()->name() + ") " + method.output_type()->name();
}

template <class Part>
void add(std::string& text, const Part& part) {
  text += (text.empty() ? "" : ", ") + text_of(part);
}

Contents contents_of(const pb::FileDescriptor& file) {
  Contents all;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const pb::Descriptor& message = *file.message_type(i);
    std::string& text = all[message.full_name()];
    for (int k = 0; k < message.field_count(); ++k) add(text, *message.field(k));
  }
  for (int i = 0; i < file.enum_type_count(); ++i) {
    const pb::EnumDescriptor& each = *file.enum_type(i);
    std::string& text = all[each.full_name()];
    for (int k = 0; k < each.value_count(); ++k) add(text, *each.value(k));
  }
  for (int i = 0; i < file.service_count(); ++i) {
    const pb::ServiceDescriptor& service = *file.service(i);
    std::string& text = all[service.full_name()];
    for (int k = 0; k < service.method_count(); ++k) add(text, *service.method(k));
  }
  return all;
}

TEST(CordumV1, TheApiHasTheNamesNumbersAndTypesOfTheGateway) {
  const Contents expected = {
      {"cordum.v1.SubmitJobRequest",
       "prompt 1 string, topic 2 string, adapter_id 3 string, priority 4 string, org_id 5 string, "
       "team_id 6 string, project_id 7 string, principal_id 8 string, idempotency_key 9 string, "
       "actor_id 10 string, actor_type 11 string, pack_id 12 string, capability 13 string, "
       "risk_tags 14 repeated string, requires 15 repeated string, labels 16 map<string,string>, "
       "memory_id 17 string"},
      {"cordum.v1.SubmitJobResponse",
       "job_id 1 string, trace_id 2 string, status 3 string, reason 4 string"},
      {"cordum.v1.GetJobStatusRequest", "job_id 1 string"},
      {"cordum.v1.GetJobStatusResponse", "job_id 1 string, status 2 string, result_ptr 3 string"},
      {"cordum.v1.CordumApi",
       "SubmitJob(SubmitJobRequest) SubmitJobResponse, "
       "GetJobStatus(GetJobStatusRequest) GetJobStatusResponse"},
  };
  EXPECT_THAT(contents_of(*cordum::v1::SubmitJobRequest::descriptor()->file()),
              testing::ContainerEq(expected));
}

TEST(CordumV1, TheContextEngineHasItsNamesNumbersAndTypes) {
  const Contents expected = {
      {"cordum.v1.ContextMode",
       "CONTEXT_MODE_UNSPECIFIED 0, CONTEXT_MODE_RAW 1, CONTEXT_MODE_CHAT 2, CONTEXT_MODE_RAG 3"},
      {"cordum.v1.MemoryWriteKind",
       "MEMORY_WRITE_KIND_UNSPECIFIED 0, MEMORY_WRITE_KIND_RAW 1, MEMORY_WRITE_KIND_CHAT 2, "
       "MEMORY_WRITE_KIND_SHARED_POLICY_STATE 3, MEMORY_WRITE_KIND_SHARED_TRUST_STATE 4, "
       "MEMORY_WRITE_KIND_SHARED_DIRECTIVE 5"},
      {"cordum.v1.ModelMessage", "role 1 string, content 2 string"},
      {"cordum.v1.BuildWindowRequest",
       "memory_id 1 string, mode 2 ContextMode, model 3 string, logical_payload 4 bytes, "
       "max_input_tokens 5 int32, max_output_tokens 6 int32"},
      {"cordum.v1.BuildWindowResponse",
       "messages 1 repeated ModelMessage, input_tokens 2 int32, output_tokens 3 int32"},
      {"cordum.v1.UpdateMemoryRequest",
       "memory_id 1 string, logical_payload 2 bytes, model_response 3 bytes, mode 4 ContextMode, "
       "tenant_id 5 string, writer_agent_id 6 string, target_agent_id 7 string, "
       "provenance_ref 8 string, provenance_verified 9 bool, write_kind 10 MemoryWriteKind, "
       "policy_state_mutation 11 bool"},
      {"cordum.v1.UpdateMemoryResponse", ""},
      {"cordum.v1.ContextEngine",
       "BuildWindow(BuildWindowRequest) BuildWindowResponse, "
       "UpdateMemory(UpdateMemoryRequest) UpdateMemoryResponse"},
  };
  EXPECT_THAT(contents_of(*cordum::v1::BuildWindowRequest::descriptor()->file()),
              testing::ContainerEq(expected));
}

TEST(CordumV1, TheOutputPolicyHasTheNamesNumbersAndTypesOfTheSafetyKernel) {
  const Contents expected = {
      {"cordum.v1.OutputDecision",
       "OUTPUT_DECISION_ALLOW 0, OUTPUT_DECISION_QUARANTINE 1, OUTPUT_DECISION_REDACT 2"},
      {"cordum.v1.OutputCheckRequest",
       "job_id 1 string, topic 2 string, tenant 3 string, labels 4 map<string,string>, "
       "result_ptr 5 string, artifact_ptrs 6 repeated string, error_message 7 string, "
       "error_code 8 string, worker_id 9 string, execution_ms 10 int64, "
       "output_size_bytes 11 int64, content_hash 12 string, workflow_id 13 string, "
       "step_id 14 string, output_content 15 bytes, capabilities 16 repeated string, "
       "risk_tags 17 repeated string, principal_id 18 string, pack_id 19 string, "
       "content_type 20 string, original_labels 21 map<string,string>"},
      {"cordum.v1.OutputFinding",
       "type 1 string, severity 2 string, detail 3 string, offset 4 int64, length 5 int64, "
       "scanner 6 string, confidence 7 float, matched_pattern 8 string"},
      {"cordum.v1.OutputCheckResponse",
       "decision 1 OutputDecision, reason 2 string, rule_id 3 string, policy_snapshot 4 string, "
       "findings 5 repeated OutputFinding, redacted_ptr 6 string"},
      {"cordum.v1.OutputPolicyService", "CheckOutput(OutputCheckRequest) OutputCheckResponse"},
  };
  EXPECT_THAT(contents_of(*cordum::v1::OutputCheckRequest::descriptor()->file()),
              testing::ContainerEq(expected));
}

}  // namespace
