#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "job/request.h"

namespace fairlead::job {
namespace {

cap::JobRequest request() {
  cap::JobRequest request;
  request.set_job_id("job-1");
  request.set_topic("job.default");
  request.set_priority(cap::JOB_PRIORITY_BATCH);
  request.set_context_ptr("redis://ctx:job-1");
  for (const char* key : {"b", "a", "tenant_id", "c"}) (*request.mutable_env())[key] = "v";
  for (const char* key : {"z", "y", "x"}) (*request.mutable_labels())[key] = "v";
  request.mutable_budget()->set_deadline_ms(1000);
  request.mutable_meta()->add_requires("gpu");
  return request;
}

void add_unknown_field(google::protobuf::Message& message) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(1000, 7);
}

std::string hash_with_label(const char* name, const char* value) {
  cap::JobRequest changed = request();
  (*changed.mutable_labels())[name] = value;
  return job_hash(changed);
}

std::string hash_with_env(const char* name, const char* value) {
  cap::JobRequest changed = request();
  (*changed.mutable_env())[name] = value;
  return job_hash(changed);
}

// Made by the published Python package: SHA-256 of the same request, serialised deterministically.
TEST(JobHash, IsWhatOtherImplementationsCompute) {
  EXPECT_EQ(job_hash(request()),
            "6628953107d49bc33b919e5d58e70316918bf1628352a61578aeb11e5a4b2e54");
}

TEST(JobHash, OfNothingIsTheHashOfNoBytes) {
  EXPECT_EQ(job_hash(cap::JobRequest()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(JobHash, SurvivesAJsonRoundTrip) {
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(request(), &json).ok());
  cap::JobRequest back;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &back).ok());
  EXPECT_EQ(job_hash(back), job_hash(request()));
}

TEST(JobHash, SurvivesTheWire) {
  cap::JobRequest back;
  ASSERT_TRUE(back.ParseFromString(request().SerializeAsString()));
  EXPECT_EQ(job_hash(back), job_hash(request()));
}

TEST(JobHash, IgnoresUnknownFieldsAtEveryDepth) {
  cap::JobRequest newer = request();
  add_unknown_field(newer);
  add_unknown_field(*newer.mutable_budget());
  add_unknown_field(*newer.mutable_meta());
  EXPECT_EQ(job_hash(newer), job_hash(request()));
}

TEST(JobHash, IgnoresWhatApprovalBusAndConfigurationAdd) {
  EXPECT_EQ(hash_with_label("approval_granted", "true"), job_hash(request()));
  EXPECT_EQ(hash_with_label("Approval_Note", "fine"), job_hash(request()));
  EXPECT_EQ(hash_with_label("APPROVAL_", ""), job_hash(request()));
  EXPECT_EQ(hash_with_label("cordum.bus_msg_id", "approval:job-1"), job_hash(request()));
  EXPECT_EQ(hash_with_label("policy.attachment_id", "job/job-1/policy"), job_hash(request()));
  EXPECT_EQ(hash_with_env("CORDUM_EFFECTIVE_CONFIG", "{}"), job_hash(request()));
}

TEST(JobHash, TakesMapsThatBecomeEmptyForAbsent) {
  cap::JobRequest bare;
  bare.set_job_id("job-1");
  cap::JobRequest adorned = bare;
  (*adorned.mutable_labels())["approval_granted"] = "true";
  (*adorned.mutable_env())["CORDUM_EFFECTIVE_CONFIG"] = "{}";
  EXPECT_EQ(job_hash(adorned), job_hash(bare));
}

TEST(JobHash, ChangesWithAnythingTheClientWrote) {
  EXPECT_NE(hash_with_label("x", "other"), job_hash(request()));
  EXPECT_NE(hash_with_label("approva", ""), job_hash(request()));
  EXPECT_NE(hash_with_label("approval", "true"), job_hash(request()));
  EXPECT_NE(hash_with_label("my_approval_", "true"), job_hash(request()));
  EXPECT_NE(hash_with_env("a", "other"), job_hash(request()));
  EXPECT_NE(hash_with_env("approval_granted", "true"), job_hash(request()));

  cap::JobRequest changed = request();
  changed.set_context_ptr("redis://ctx:job-2");
  EXPECT_NE(job_hash(changed), job_hash(request()));
  changed = request();
  changed.mutable_budget()->set_deadline_ms(1001);
  EXPECT_NE(job_hash(changed), job_hash(request()));
}

TEST(JobHash, LeavesTheRequestAlone) {
  cap::JobRequest adorned = request();
  (*adorned.mutable_labels())["approval_granted"] = "true";
  std::string before = serialise(adorned);
  job_hash(adorned);
  EXPECT_EQ(serialise(adorned), before);
}

}  // namespace
}  // namespace fairlead::job
