#include "job/request.h"

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::job {
namespace {

using testing::HasSubstr;

constexpr WallTime kNow = wall_time_from_micros(1'700'000'000'000'000);

cap::JobRequest valid_request() {
  cap::JobRequest request;
  request.set_job_id("job-1");
  request.set_topic("job.default");
  return request;
}

cap::JobResult valid_result() {
  cap::JobResult result;
  result.set_job_id("job-1");
  result.set_worker_id("worker-1");
  result.set_status(cap::JOB_STATUS_SUCCEEDED);
  return result;
}

// The complaint about a request that is valid but for `spoil`; "" when there is none.
std::string complaint(const std::function<void(cap::JobRequest&)>& spoil) {
  cap::JobRequest request = valid_request();
  spoil(request);
  Result<void> verdict = validate(request);
  if (verdict) return "";
  EXPECT_EQ(verdict.error().code, ErrorCode::kInvalid);
  return verdict.error().message;
}

std::string result_complaint(const std::function<void(cap::JobResult&)>& spoil) {
  cap::JobResult result = valid_result();
  spoil(result);
  Result<void> verdict = validate(result);
  if (verdict) return "";
  EXPECT_EQ(verdict.error().code, ErrorCode::kInvalid);
  return verdict.error().message;
}

TEST(ValidateRequest, AcceptsTheSmallestRequest) {
  EXPECT_TRUE(validate(valid_request()));
}

TEST(ValidateRequest, NeedsAJobIdAndATopic) {
  EXPECT_THAT(complaint([](auto& r) { r.clear_job_id(); }), HasSubstr("job_id is empty"));
  EXPECT_THAT(complaint([](auto& r) { r.clear_topic(); }), HasSubstr("topic is empty"));
}

TEST(ValidateRequest, TakesNamesWithBlanksAroundThem) {
  EXPECT_EQ(complaint([](auto& r) { r.set_job_id(" " + std::string(256, 'x') + "\n"); }), "");
  EXPECT_EQ(complaint([](auto& r) { r.set_topic(" job.default "); }), "");
  EXPECT_EQ(complaint([](auto& r) { r.set_topic(" "); }), "");
}

TEST(ValidateRequest, BoundsTheNames) {
  auto id_of = [](size_t bytes) { return [=](auto& r) { r.set_job_id(std::string(bytes, 'x')); }; };
  EXPECT_EQ(complaint(id_of(limits::kJobIdBytesMax)), "");
  EXPECT_THAT(complaint(id_of(limits::kJobIdBytesMax + 1)),
              HasSubstr("job_id has 257 bytes, must have at most 256"));

  auto topic_of = [](size_t bytes) {
    return [=](auto& r) { r.set_topic(std::string(bytes, 'x')); };
  };
  EXPECT_EQ(complaint(topic_of(limits::kTopicBytesMax)), "");
  EXPECT_THAT(complaint(topic_of(limits::kTopicBytesMax + 1)), HasSubstr("topic has 257 bytes"));

  auto tenant_of_size = [](size_t bytes) {
    return [=](auto& r) { r.set_tenant_id(std::string(bytes, 'x')); };
  };
  EXPECT_EQ(complaint(tenant_of_size(limits::kTenantBytesMax)), "");
  EXPECT_THAT(complaint(tenant_of_size(limits::kTenantBytesMax + 1)),
              HasSubstr("tenant_id has 257 bytes"));
  EXPECT_THAT(complaint([](auto& r) { (*r.mutable_env())["tenant_id"] = std::string(257, 'x'); }),
              HasSubstr("env[\"tenant_id\"] has 257 bytes"));

  auto key_of = [](size_t bytes) {
    return [=](auto& r) { r.mutable_meta()->set_idempotency_key(std::string(bytes, 'x')); };
  };
  EXPECT_EQ(complaint(key_of(limits::kIdempotencyKeyBytesMax)), "");
  EXPECT_THAT(complaint(key_of(limits::kIdempotencyKeyBytesMax + 1)),
              HasSubstr("meta.idempotency_key has 257 bytes"));
}

TEST(ValidateRequest, BoundsEveryTextThatTheRecordKeeps) {
  const std::string most(limits::kReferenceBytesMax, 'x');
  const std::string more = most + 'x';
  EXPECT_EQ(complaint([&](auto& r) { r.set_principal_id(most); }), "");
  EXPECT_THAT(complaint([&](auto& r) { r.set_principal_id(more); }),
              HasSubstr("principal_id has 2049 bytes, must have at most 2048"));
  EXPECT_THAT(complaint([&](auto& r) { r.set_workflow_id(more); }),
              HasSubstr("workflow_id has 2049 bytes"));
  EXPECT_THAT(complaint([&](auto& r) { (*r.mutable_labels())["workflow_id"] = more; }),
              HasSubstr("labels[\"workflow_id\"] has 2049 bytes"));
  EXPECT_THAT(complaint([&](auto& r) { (*r.mutable_env())["team_id"] = more; }),
              HasSubstr("env[\"team_id\"] has 2049 bytes"));
}

TEST(ValidateRequest, BoundsLabelsOneByOneAndTogether) {
  auto label = [](size_t name, size_t value) {
    return
        [=](auto& r) { (*r.mutable_labels())[std::string(name, 'n')] = std::string(value, 'v'); };
  };
  EXPECT_EQ(complaint(label(256, 4096)), "");
  EXPECT_THAT(complaint(label(257, 1)), HasSubstr("has 257 bytes, must have at most 256"));
  EXPECT_THAT(complaint(label(2, 4097)),
              HasSubstr("labels[\"nn\"] has 4097 bytes, must have at most 4096"));
  auto many = [](int count) {
    return [=](auto& r) {
      for (int i = 100; i < 100 + count; ++i) {
        (*r.mutable_labels())["billing.x" + std::to_string(i)] = std::string(4084, 'v');
      }
    };
  };
  EXPECT_EQ(complaint(many(16)), "");
  EXPECT_THAT(complaint(many(17)),
              HasSubstr("labels have 69632 bytes together, must have at most 65536"));
}

TEST(ValidateTrace, BoundsIt) {
  EXPECT_TRUE(validate(TraceId(std::string(limits::kTraceIdBytesMax, 't'))));
  EXPECT_EQ(validate(TraceId(std::string(257, 't'))).error().message,
            "trace_id has 257 bytes, must have at most 256");
}

TEST(ValidateRequest, RefusesWhiteSpaceAndControlCharactersInNames) {
  for (char bad : {' ', '\t', '\n', '\0', '\x01', '\x7f'}) {
    std::string name = std::string("a") + bad + "b";
    EXPECT_THAT(complaint([&](auto& r) { r.set_job_id(name); }), HasSubstr("job_id is \"a"))
        << int{bad};
    EXPECT_THAT(complaint([&](auto& r) { r.set_topic(name); }), HasSubstr("topic is \"a"));
  }
  EXPECT_EQ(complaint([](auto& r) { r.set_job_id("jöb-1"); }), "");
}

TEST(ValidateRequest, ShowsForeignTextShortAndPrintable) {
  std::string message = complaint([](auto& r) { r.set_job_id("a\n" + std::string(200, 'b')); });
  EXPECT_THAT(message, HasSubstr("\"a?bbb"));
  EXPECT_LT(message.size(), 200u);
}

TEST(ValidateRequest, TakesPrioritiesFromZeroToThree) {
  auto priority = [](int number) {
    return [=](auto& r) { r.set_priority(static_cast<cap::JobPriority>(number)); };
  };
  for (int number : {0, 1, 2, 3}) EXPECT_EQ(complaint(priority(number)), "") << number;
  EXPECT_EQ(complaint(priority(4)), "priority is 4, must be from 0 to 3");
  EXPECT_EQ(complaint(priority(-1)), "priority is -1, must be from 0 to 3");
}

TEST(ValidateRequest, RefusesANegativeStepIndex) {
  EXPECT_EQ(complaint([](auto& r) { r.set_step_index(-1); }),
            "step_index is -1, must not be negative");
  EXPECT_EQ(complaint([](auto& r) { r.set_step_index(1); }), "");
}

TEST(ValidateRequest, BoundsTheLabelsThatConstrainPlacementTogether) {
  auto placed = [](size_t value) {
    return [=](auto& r) {
      auto& labels = *r.mutable_labels();
      labels["placement.tier"] = std::string(300, 'v');  // 314
      labels["constraint.os"] = std::string(300, 'v');   // 313
      labels["node.zone"] = std::string(value - 314 - 313 - 9, 'v');
      labels["business"] = std::string(4000, 'v');
    };
  };
  EXPECT_EQ(complaint(placed(limits::kPlacementBytesMax)), "");
  EXPECT_EQ(complaint(placed(limits::kPlacementBytesMax + 1)),
            "labels placement.*, constraint.* and node.* have 1025 bytes together, "
            "must have at most 1024");
}

TEST(ValidateRequest, TakesAThousandLabelsTagsAndNeedsButNotOneMore) {
  auto labels = [](int count) {
    return [=](auto& r) {
      for (int i = 0; i < count; ++i) (*r.mutable_labels())[std::to_string(i)] = "";
    };
  };
  EXPECT_EQ(complaint(labels(1000)), "");
  EXPECT_EQ(complaint(labels(1001)), "labels has 1001 entries, must have at most 1000");

  auto risk_tags = [](int count) {
    return [=](auto& r) {
      for (int i = 0; i < count; ++i) r.mutable_meta()->add_risk_tags("tag");
    };
  };
  EXPECT_EQ(complaint(risk_tags(1000)), "");
  EXPECT_THAT(complaint(risk_tags(1001)), HasSubstr("meta.risk_tags has 1001 entries"));

  auto needs = [](int count) {
    return [=](auto& r) {
      for (int i = 0; i < count; ++i) r.mutable_meta()->add_requires("gpu");
    };
  };
  EXPECT_EQ(complaint(needs(1000)), "");
  EXPECT_THAT(complaint(needs(1001)), HasSubstr("meta.requires has 1001 entries"));
}

TEST(ValidateRequest, TakesBudgetsFromZeroToTenBillionTokens) {
  constexpr int64_t kMost = 10'000'000'000;
  struct Field {
    const char* name;
    void (cap::Budget::*set)(int64_t);
  };
  for (Field field : {Field{"budget.max_input_tokens", &cap::Budget::set_max_input_tokens},
                      Field{"budget.max_output_tokens", &cap::Budget::set_max_output_tokens},
                      Field{"budget.max_total_tokens", &cap::Budget::set_max_total_tokens}}) {
    auto tokens = [field](int64_t count) {
      return [=](cap::JobRequest& r) { (r.mutable_budget()->*field.set)(count); };
    };
    EXPECT_EQ(complaint(tokens(0)), "");
    EXPECT_EQ(complaint(tokens(kMost)), "");
    EXPECT_EQ(complaint(tokens(kMost + 1)),
              std::string(field.name) + " is 10000000001, must be from 0 to 10000000000");
    EXPECT_THAT(complaint(tokens(-1)), HasSubstr(std::string(field.name) + " is -1"));
  }
}

TEST(ValidateRequest, RefusesANegativeDeadline) {
  auto deadline = [](int64_t ms) {
    return [=](auto& r) { r.mutable_budget()->set_deadline_ms(ms); };
  };
  EXPECT_EQ(complaint(deadline(-1)), "budget.deadline_ms is -1, must not be negative");
  EXPECT_EQ(complaint(deadline(0)), "");
  EXPECT_EQ(complaint(deadline(std::numeric_limits<int64_t>::max())), "");
}

TEST(ValidateRequest, RefusesTwoDifferentTenants) {
  auto tenants = [](const char* field, const char* env) {
    return [=](auto& r) {
      r.set_tenant_id(field);
      (*r.mutable_env())["tenant_id"] = env;
    };
  };
  EXPECT_EQ(complaint(tenants("a", "b")),
            "tenant_id is \"a\" and env[\"tenant_id\"] is \"b\", must be the same");
  EXPECT_EQ(complaint(tenants("a", "a")), "");
  EXPECT_EQ(complaint(tenants("a", "")), "");
  EXPECT_EQ(complaint(tenants("", "b")), "");
}

TEST(ValidateResult, AcceptsTheSmallestResult) {
  EXPECT_TRUE(validate(valid_result()));
}

TEST(ValidateResult, NeedsJobWorkerAndStatus) {
  EXPECT_THAT(result_complaint([](auto& r) { r.clear_job_id(); }), HasSubstr("job_id is empty"));
  EXPECT_THAT(result_complaint([](auto& r) { r.clear_worker_id(); }),
              HasSubstr("worker_id is empty"));
  EXPECT_THAT(result_complaint([](auto& r) { r.clear_status(); }),
              HasSubstr("status is unspecified"));
}

TEST(ValidateResult, BoundsJobAndWorkerId) {
  EXPECT_THAT(result_complaint([](auto& r) { r.set_job_id(std::string(257, 'x')); }),
              HasSubstr("job_id has 257 bytes"));
  EXPECT_THAT(result_complaint([](auto& r) { r.set_worker_id(std::string(129, 'x')); }),
              HasSubstr("worker_id has 129 bytes"));
}

TEST(ValidateResult, BoundsThePointer) {
  EXPECT_THAT(result_complaint([](auto& r) { r.set_result_ptr(std::string(2049, 'x')); }),
              HasSubstr("result_ptr has 2049 bytes"));
}

TEST(ValidateResult, RefusesANegativeExecutionTime) {
  EXPECT_EQ(result_complaint([](auto& r) { r.set_execution_ms(-1); }),
            "execution_ms is -1, must not be negative");
}

TEST(TrimNames, TrimsJobIdAndTopicAndNothingElse) {
  cap::JobRequest request;
  request.set_job_id(" job-1\n");
  request.set_topic("\tjob.default ");
  request.set_tenant_id(" acme ");
  trim_names(request);
  EXPECT_EQ(request.job_id(), "job-1");
  EXPECT_EQ(request.topic(), "job.default");
  EXPECT_EQ(request.tenant_id(), " acme ");
}

TEST(TrimNames, LeavesNothingOfABlankId) {
  cap::JobRequest request = valid_request();
  request.set_job_id("  ");
  trim_names(request);
  EXPECT_EQ(request.job_id(), "");
}

TEST(TenantOf, PrefersTheFieldThenTheEnvironmentThenDefault) {
  cap::JobRequest request;
  EXPECT_EQ(tenant_of(request), TenantId("default"));
  (*request.mutable_env())["tenant_id"] = "from-env";
  EXPECT_EQ(tenant_of(request), TenantId("from-env"));
  request.set_tenant_id("from-field");
  EXPECT_EQ(tenant_of(request), TenantId("from-field"));
}

TEST(TenantOf, TakesABlankEnvironmentForNone) {
  cap::JobRequest request;
  (*request.mutable_env())["tenant_id"] = "";
  EXPECT_EQ(tenant_of(request), TenantId("default"));
}

// H-03: what is counted is what is limited, whatever the metadata claims.
TEST(TenantOf, IgnoresTheTenantOfTheMetadata) {
  cap::JobRequest request;
  request.mutable_meta()->set_tenant_id("someone-else");
  EXPECT_EQ(tenant_of(request), TenantId("default"));
}

TEST(NewRecord, TakesEverythingFromTheRequest) {
  cap::JobRequest request = valid_request();
  request.set_tenant_id("acme");
  (*request.mutable_env())["team_id"] = "red";
  request.set_principal_id("alice");
  request.set_workflow_id("wf-1");
  request.mutable_meta()->set_idempotency_key("once");
  request.set_priority(cap::JOB_PRIORITY_CRITICAL);
  request.mutable_budget()->set_deadline_ms(1500);

  Record expected;
  expected.id = JobId("job-1");
  expected.topic = Topic("job.default");
  expected.tenant = TenantId("acme");
  expected.team = "red";
  expected.principal = "alice";
  expected.trace = TraceId("trace-1");
  expected.workflow_id = "wf-1";
  expected.idempotency_key = "once";
  expected.priority = 3;
  expected.request_hash = job_hash(request);
  expected.created_at = kNow;
  expected.updated_at = kNow;
  expected.deadline = kNow + std::chrono::milliseconds(1500);
  EXPECT_EQ(new_record(request, TraceId("trace-1"), kNow), expected);
}

TEST(NewRecord, IsPendingAndNotYetStored) {
  Record record = new_record(valid_request(), TraceId("trace-1"), kNow);
  EXPECT_EQ(record.state, State::kPending);
  EXPECT_EQ(record.revision, Revision(0));
  EXPECT_EQ(record.epoch, Epoch(0));
  EXPECT_EQ(record.deadline, std::nullopt);
}

TEST(NewRecord, IsItsOwnTraceWithoutOne) {
  EXPECT_EQ(new_record(valid_request(), TraceId(), kNow).trace, TraceId("job-1"));
}

TEST(NewRecord, FallsBackToTheWorkflowLabel) {
  cap::JobRequest request = valid_request();
  (*request.mutable_labels())["workflow_id"] = "from-label";
  EXPECT_EQ(new_record(request, TraceId(), kNow).workflow_id, "from-label");
  request.set_workflow_id("from-field");
  EXPECT_EQ(new_record(request, TraceId(), kNow).workflow_id, "from-field");
}

TEST(NewRecord, AnEndlessDeadlineStaysInTheFuture) {
  cap::JobRequest request = valid_request();
  request.mutable_budget()->set_deadline_ms(std::numeric_limits<int64_t>::max());
  EXPECT_GT(new_record(request, TraceId(), kNow).deadline, kNow + std::chrono::years(1000));
}

TEST(IsEnding, IsWhatSaysHowARunEnded) {
  for (auto status : {cap::JOB_STATUS_SUCCEEDED, cap::JOB_STATUS_FAILED,
                      cap::JOB_STATUS_FAILED_RETRYABLE, cap::JOB_STATUS_FAILED_FATAL,
                      cap::JOB_STATUS_CANCELLED, cap::JOB_STATUS_DENIED, cap::JOB_STATUS_TIMEOUT}) {
    EXPECT_TRUE(is_ending(status)) << status;
  }
  for (auto status :
       {cap::JOB_STATUS_PENDING, cap::JOB_STATUS_SCHEDULED, cap::JOB_STATUS_DISPATCHED,
        cap::JOB_STATUS_RUNNING, static_cast<cap::JobStatus>(77)}) {
    EXPECT_FALSE(is_ending(status)) << status;
  }
}

TEST(StateOf, MapsEveryStatusOfAResult) {
  EXPECT_EQ(state_of(cap::JOB_STATUS_SUCCEEDED), State::kSucceeded);
  EXPECT_EQ(state_of(cap::JOB_STATUS_FAILED), State::kFailed);
  EXPECT_EQ(state_of(cap::JOB_STATUS_FAILED_RETRYABLE), State::kRetrying);
  EXPECT_EQ(state_of(cap::JOB_STATUS_FAILED_FATAL), State::kFailed);
  EXPECT_EQ(state_of(cap::JOB_STATUS_TIMEOUT), State::kTimeout);
  EXPECT_EQ(state_of(cap::JOB_STATUS_DENIED), State::kDenied);
  EXPECT_EQ(state_of(cap::JOB_STATUS_CANCELLED), State::kCancelled);
}

TEST(StateOf, TakesWhatIsNoEndingForAFailure) {
  for (int status : {0, 1, 2, 3, 4, 12, 1000, -1}) {
    EXPECT_EQ(state_of(static_cast<cap::JobStatus>(status)), State::kFailed) << status;
  }
}

TEST(StatusOf, ComesBackToTheStateForEveryEndingThatTheWireNames) {
  for (State state : {State::kSucceeded, State::kFailed, State::kTimeout, State::kCancelled,
                      State::kDenied, State::kRetrying}) {
    EXPECT_EQ(state_of(status_of(state)), state) << to_string(state);
  }
}

TEST(StatusOf, NamesTheRest) {
  EXPECT_EQ(status_of(State::kPending), cap::JOB_STATUS_PENDING);
  EXPECT_EQ(status_of(State::kApprovalRequired), cap::JOB_STATUS_PENDING);
  EXPECT_EQ(status_of(State::kScheduled), cap::JOB_STATUS_SCHEDULED);
  EXPECT_EQ(status_of(State::kDispatched), cap::JOB_STATUS_DISPATCHED);
  EXPECT_EQ(status_of(State::kRunning), cap::JOB_STATUS_RUNNING);
  EXPECT_EQ(status_of(State::kOutputQuarantined), cap::JOB_STATUS_DENIED);
}

TEST(ErrorCodeOf, MapsTheCodesOfTheSpecificationAndNoOthers) {
  EXPECT_EQ(error_code_of("approval_rejected"), cap::ERROR_CODE_SAFETY_DENIED);
  EXPECT_EQ(error_code_of("policy_denied"), cap::ERROR_CODE_SAFETY_DENIED);
  EXPECT_EQ(error_code_of("policy_violation"), cap::ERROR_CODE_SAFETY_POLICY_VIOLATION);
  EXPECT_EQ(error_code_of("max_scheduling_retries"), cap::ERROR_CODE_JOB_RESOURCE_EXHAUSTED);
  EXPECT_EQ(error_code_of("timeout"), cap::ERROR_CODE_JOB_TIMEOUT);
  EXPECT_EQ(error_code_of("permission_denied"), cap::ERROR_CODE_JOB_PERMISSION_DENIED);
  for (const char* other : {"", "no_workers", "safety_denied", "TIMEOUT", "E_MODEL"}) {
    EXPECT_EQ(error_code_of(other), cap::ERROR_CODE_UNSPECIFIED) << other;
  }
}

TEST(Validate, TextThatIsNotUtf8IsRefused) {
  for (auto set :
       {+[](cap::JobRequest& request) { request.set_principal_id("\xff"); },
        +[](cap::JobRequest& request) { request.set_tenant_id("a\xc3"); },
        +[](cap::JobRequest& request) { request.set_job_id("j\xff"); },
        +[](cap::JobRequest& request) { request.mutable_meta()->set_idempotency_key("k\xff"); },
        +[](cap::JobRequest& request) { (*request.mutable_labels())["\xff"] = "v"; },
        +[](cap::JobRequest& request) { (*request.mutable_labels())["l"] = "\xff"; }}) {
    cap::JobRequest request;
    request.set_job_id("j");
    request.set_topic("job.default");
    ASSERT_TRUE(validate(request));
    set(request);
    auto valid = validate(request);
    ASSERT_FALSE(valid);
    EXPECT_NE(valid.error().message.find("UTF-8"), std::string::npos) << valid.error().message;
  }
  EXPECT_FALSE(validate(TraceId("\xff")));
}

TEST(Validate, ContentForPolicyMayBeLongerThanOtherLabels) {
  cap::JobRequest request;
  request.set_job_id("j");
  request.set_topic("job.default");
  auto& labels = *request.mutable_labels();
  labels[std::string(kPromptLabel)] = std::string(limits::kContentLabelBytesMax, 'p');
  labels[std::string(kPayloadLabel)] = std::string(limits::kContentLabelBytesMax, 'p');
  EXPECT_TRUE(validate(request));
  labels[std::string(kPromptLabel)] += 'p';
  EXPECT_FALSE(validate(request));
}

}  // namespace
}  // namespace fairlead::job
