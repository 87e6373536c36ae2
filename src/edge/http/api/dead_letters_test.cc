#include "edge/http/api/api_fixture.h"

namespace fairlead::http {
namespace {

class DeadLetterApi : public ApiTest {
 protected:
  // A job that failed, with its entry.
  std::string failed(const std::string& body = R"({"prompt":"p"})") {
    worker("w1");
    std::string job = submit_job(body);
    finish(job, "w1", cordum::agent::v1::JOB_STATUS_FAILED);
    loop_.run_for(1ms);
    return job;
  }
  Task<bool> stop_scheduler() {
    co_await scheduler_->stop(1s);
    co_return true;
  }
};

TEST_F(DeadLetterApi, ListsPagesAndShowsEntries) {
  std::string a = failed(), b = failed(), c = failed();
  Answered all = get("/api/v1/dlq");
  ASSERT_EQ(all.items().size(), 3u);
  EXPECT_EQ(all.items()[0].at("job_id").as_string(), c.c_str());
  EXPECT_EQ(all.items()[0].at("status"), "JOB_STATUS_FAILED");

  Answered page = get("/api/v1/dlq/page?limit=2");
  EXPECT_EQ(page.items().size(), 2u);
  Answered rest = get("/api/v1/dlq/page?limit=2&cursor=" + page.text("next_cursor"));
  ASSERT_EQ(rest.items().size(), 1u);
  EXPECT_EQ(rest.items()[0].at("job_id").as_string(), a.c_str());
  EXPECT_TRUE(rest.body.at("next_cursor").is_null());

  EXPECT_EQ(get("/api/v1/dlq/" + b).text("job_id"), b);
  EXPECT_EQ(get("/api/v1/dlq/none").status, 404);
  EXPECT_EQ(get("/api/v1/dlq?topic=job.other").items().size(), 0u);
  EXPECT_EQ(get("/api/v1/dlq?created_after=never").status, 400);
  EXPECT_TRUE(get("/api/v1/dlq", {{"x-cordum-profile", "openapi"}}).body.is_array());
}

TEST_F(DeadLetterApi, PagesGoOnAlsoWhenTheEntryAtWhichOneEndedIsGone) {
  std::string a = failed(), b = failed(), c = failed();
  Answered page = get("/api/v1/dlq/page?limit=1");
  ASSERT_EQ(call(Method::kDelete, "/api/v1/dlq/" + c).status, 204);
  Answered rest = get("/api/v1/dlq/page?limit=5&cursor=" + page.text("next_cursor"));
  ASSERT_EQ(rest.items().size(), 2u);
  EXPECT_EQ(rest.items()[0].at("job_id").as_string(), b.c_str());
  EXPECT_EQ(rest.items()[1].at("job_id").as_string(), a.c_str());
  EXPECT_EQ(get("/api/v1/dlq/page?cursor=" + c).status, 400) << "no cursor of ours";
}

TEST_F(DeadLetterApi, ATenantSeesAndTouchesOnlyItsOwn) {
  std::string job = failed();
  caller_ = {TenantId("acme"), false, Role::kAdmin, {}};
  EXPECT_EQ(get("/api/v1/dlq").items().size(), 0u);
  EXPECT_EQ(get("/api/v1/dlq/" + job).status, 403);
  EXPECT_EQ(post("/api/v1/dlq/" + job + "/retry").status, 403);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/dlq/" + job).status, 403);
  EXPECT_EQ(post("/api/v1/dlq/delete", R"({"filter":{}})").body.at("matched"), 0);
}

TEST_F(DeadLetterApi, DeleteDropsAnEntry) {
  std::string job = failed();
  EXPECT_EQ(call(Method::kDelete, "/api/v1/dlq/" + job).status, 204);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/dlq/" + job).status, 404);
}

TEST_F(DeadLetterApi, RetrySubmitsTheJobAnewWithItsContext) {
  std::string job = failed(R"({"prompt":"again","labels":{"a":"b"}})");
  Answered retried = post("/api/v1/dlq/" + job + "/retry");
  ASSERT_EQ(retried.status, 200);
  std::string anew = retried.text("job_id");
  EXPECT_TRUE(anew.starts_with(job + "-retry-"));
  Answered detail = get("/api/v1/jobs/" + anew);
  EXPECT_EQ(detail.text("state"), "RUNNING");
  EXPECT_EQ(detail.text("trace_id"), "dlq-retry-" + job);
  EXPECT_EQ(detail.body.at("labels").at("retry_of_job").as_string(), job.c_str());
  EXPECT_EQ(detail.body.at("labels").at("a"), "b");
  EXPECT_EQ(detail.body.at("context").at("prompt"), "again");
  EXPECT_EQ(get("/api/v1/dlq/" + job).status, 404) << "the entry is gone";
  EXPECT_EQ(post("/api/v1/dlq/" + job + "/retry").status, 404);
}

TEST_F(DeadLetterApi, AJobOfADisabledOrMissingTopicIsNotRetriedAndItsEntryStays) {
  ASSERT_EQ(post("/api/v1/topics", R"({"name":"job.odd","pool":"default"})").status, 201);
  std::string job = failed(R"({"prompt":"p","topic":"job.odd"})");
  ASSERT_EQ(
      post("/api/v1/topics", R"({"name":"job.odd","pool":"default","status":"disabled"})").status,
      200);
  EXPECT_EQ(post("/api/v1/dlq/" + job + "/retry").text("code"), "topic_disabled");
  Answered many = post("/api/v1/dlq/retry", R"({"filter":{}})");
  EXPECT_EQ(many.body.at("failed").as_array().size(), 1u);
  ASSERT_EQ(call(Method::kDelete, "/api/v1/topics/job.odd").status, 204);
  EXPECT_EQ(post("/api/v1/dlq/" + job + "/retry").text("code"), "unknown_topic");
  EXPECT_EQ(get("/api/v1/dlq").items().size(), 1u);
}

TEST_F(DeadLetterApi, AnEntryWhoseJobIsGoneSaysSo) {
  store::DeadLetter entry;
  entry.job = JobId("old");
  entry.topic = Topic("job.default");
  entry.tenant = TenantId("default");
  (void)run_answer_void(store_.put_dead_letter(entry));
  EXPECT_EQ(post("/api/v1/dlq/old/retry").text("code"), "job_gone");
}

TEST_F(DeadLetterApi, BulkNamesFirstAndThenActsOnWhatTheFilterTakes) {
  std::string a = failed(), b = failed(), c = failed();
  Answered dry = post("/api/v1/dlq/retry", R"({"filter":{},"dry_run":true})");
  EXPECT_EQ(dry.body.at("matched"), 3);
  EXPECT_EQ(dry.body.at("done").as_array().size(), 0u);
  EXPECT_EQ(get("/api/v1/dlq").items().size(), 3u);

  Answered one = post("/api/v1/dlq/retry", R"({"filter":{"job_ids":[")" + b + R"("]}})");
  EXPECT_EQ(one.body.at("done").as_array().size(), 1u);
  Answered some = post("/api/v1/dlq/delete", R"({"filter":{"topic":"job.default"},"max":1})");
  EXPECT_EQ(some.body.at("done").as_array().size(), 1u);
  EXPECT_EQ(some.body.at("more"), true);
  EXPECT_EQ(get("/api/v1/dlq").items().size(), 1u);

  EXPECT_EQ(post("/api/v1/dlq/retry", "{}").status, 400);
  EXPECT_EQ(post("/api/v1/dlq/retry", R"({"filter":{"odd":1}})").status, 400);
  EXPECT_EQ(post("/api/v1/dlq/retry", R"({"filter":{},"max":1000,"stagger_ms":1000})").status, 400);
}

TEST_F(DeadLetterApi, AStaggeredRetryTakesItsTime) {
  failed();
  failed();
  MonotonicTime before = loop_.now();
  Answered both = post("/api/v1/dlq/retry", R"({"filter":{},"max":2,"stagger_ms":500})");
  EXPECT_EQ(both.body.at("done").as_array().size(), 2u);
  EXPECT_GE(loop_.now() - before, 500ms);
}

TEST_F(DeadLetterApi, OnlyAnAdminLooksAndActs) {
  std::string job = failed();
  caller_.role = Role::kOperator;
  for (const std::string& path : {std::string(""), std::string("/page"), "/" + job}) {
    EXPECT_EQ(get("/api/v1/dlq" + path).status, 403);
  }
  EXPECT_EQ(post("/api/v1/dlq/" + job + "/retry").status, 403);
}

TEST_F(DeadLetterApi, AJobOfTheLongestNameIsRetriedToo) {
  worker("w1");
  cordum::agent::v1::BusPacket packet;
  std::string old(limits::kJobIdBytesMax, 'j');
  packet.mutable_job_request()->set_job_id(old);
  packet.mutable_job_request()->set_topic("job.default");
  publish(bus::kSubmitSubject, packet);
  finish(old, "w1", cordum::agent::v1::JOB_STATUS_FAILED);
  Answered retried = post("/api/v1/dlq/" + old + "/retry");
  ASSERT_EQ(retried.status, 200) << json::serialize(retried.body);
  EXPECT_EQ(state_of(retried.text("job_id")), "RUNNING");
  EXPECT_EQ(get("/api/v1/dlq/" + old).status, 404);
}

TEST_F(DeadLetterApi, AJobWhoseLabelsLeaveNoRoomIsRetriedWithoutOurs) {
  worker("w1");
  cordum::agent::v1::BusPacket packet;
  packet.mutable_job_request()->set_job_id("old");
  packet.mutable_job_request()->set_topic("job.default");
  auto& labels = *packet.mutable_job_request()->mutable_labels();
  for (size_t i = 0; i < limits::kLabelsMax; ++i) labels["l" + std::to_string(i)] = "v";
  publish(bus::kSubmitSubject, packet);
  finish("old", "w1", cordum::agent::v1::JOB_STATUS_FAILED);
  Answered retried = post("/api/v1/dlq/old/retry");
  ASSERT_EQ(retried.status, 200) << json::serialize(retried.body);
  EXPECT_EQ(state_of(retried.text("job_id")), "RUNNING");
}

TEST_F(DeadLetterApi, TheEntryStaysWhenTheJobIsNotAdmitted) {
  std::string job = failed();
  // Nobody takes submits any more.
  run(stop_scheduler());
  Answered retried = post("/api/v1/dlq/" + job + "/retry");
  EXPECT_GE(retried.status, 429);
  EXPECT_EQ(get("/api/v1/dlq/" + job).status, 200);
}

}  // namespace
}  // namespace fairlead::http
