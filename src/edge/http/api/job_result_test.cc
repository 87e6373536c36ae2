#include "edge/http/api/api_fixture.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {
namespace {

namespace cap = cordum::agent::v1;

class JobResultApi : public ApiTest {
 protected:
  // A job that has ended with these bytes.
  std::string ended_with(std::string bytes) {
    worker("w1");
    std::string job = submit_job();
    EXPECT_TRUE(run_answer(store_.put_blob("res:" + job, {std::move(bytes), clock_.wall() + 1h},
                                           store::BlobCondition::kAlways)));
    finish(job, "w1", cap::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
    return job;
  }
  Answered result_of(const std::string& job) { return get("/api/v1/jobs/" + job + "/result"); }
};

TEST_F(JobResultApi, IsSentAsItWasStored) {
  for (const std::string& bytes :
       {std::string("{\"price\":0.1}"), std::string("12345678901234567890123"), std::string("null"),
        std::string("\xff\xfe\0x\r\n", 6), std::string("no newline"), std::string(6 << 20, 'x')}) {
    Answered answer = result_of(ended_with(bytes));
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body.as_string() == bytes) << bytes.substr(0, 40);
  }
}

TEST_F(JobResultApi, OfAJobThatHasNotEndedIsNotThere) {
  worker("w1");
  Answered answer = result_of(submit_job());
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.text("code"), "not_ended");
  EXPECT_EQ(answer.text("state"), "RUNNING");
}

TEST_F(JobResultApi, OfAJobWithoutOneSaysHowItEnded) {
  worker("w1");
  std::string job = submit_job();
  finish(job, "w1", cap::JOB_STATUS_FAILED);
  Answered answer = result_of(job);
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text("code"), "no_result");
  EXPECT_EQ(answer.text("state"), "FAILED");
  EXPECT_EQ(result_of("none").text("code"), "job_not_found");
}

TEST_F(JobResultApi, ThatIsGoneOrTooLargeIsSaidToBe) {
  std::string large = ended_with(std::string(limits::kResultBytesMax + 1, 'x'));
  EXPECT_EQ(result_of(large).status, 413);
  std::string gone = ended_with("x");
  loop_.run_for(2h);
  EXPECT_EQ(result_of(gone).text("code"), "result_gone");
}

TEST_F(JobResultApi, IsForItsTenantOnly) {
  std::string job = ended_with("x");
  caller_ = {TenantId("other"), false, Role::kAdmin, {}};
  EXPECT_EQ(result_of(job).status, 403);
}

}  // namespace
}  // namespace fairlead::http
