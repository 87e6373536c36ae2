#include "edge/http/api/api_fixture.h"

namespace fairlead::http {
namespace {

class JobListApi : public ApiTest {
 protected:
  std::vector<std::string> ids(const std::string& target) {
    std::vector<std::string> found;
    for (const json::value& item : get(target).items()) {
      found.emplace_back(item.at("id").as_string());
    }
    return found;
  }
  std::string submit_at(const std::string& body = R"({"prompt":"p"})") {
    std::string job = submit_job(body);
    loop_.run_for(1ms);
    return job;
  }
};
using Ids = std::vector<std::string>;

TEST_F(JobListApi, ListsTheMostRecentlyChangedFirst) {
  std::string a = submit_at(), b = submit_at();
  ASSERT_EQ(post("/api/v1/jobs/" + a + "/cancel").status, 200);
  EXPECT_EQ(ids("/api/v1/jobs"), (Ids{a, b}));
}

TEST_F(JobListApi, FiltersByStateTopicTeamTraceAndTime) {
  std::string a = submit_at(R"({"prompt":"p","team_id":"red"})");
  std::string b = submit_at(R"({"prompt":"p","topic":"job.train"})");
  std::string c = submit_at();
  ASSERT_EQ(post("/api/v1/jobs/" + c + "/cancel").status, 200);
  EXPECT_EQ(ids("/api/v1/jobs?state=cancelled"), Ids{c});
  EXPECT_EQ(ids("/api/v1/jobs?state=PENDING"), (Ids{b, a}));
  EXPECT_EQ(ids("/api/v1/jobs?state=PENDING&state=CANCELLED"), (Ids{c, b, a}));
  EXPECT_EQ(ids("/api/v1/jobs?state=running,cancelled"), Ids{c});
  EXPECT_EQ(ids("/api/v1/jobs?topic=job.train"), Ids{b});
  EXPECT_EQ(ids("/api/v1/jobs?team=red"), Ids{a});
  std::string trace = get("/api/v1/jobs/" + b).text("trace_id");
  EXPECT_EQ(ids("/api/v1/jobs?trace_id=" + trace), Ids{b});
  int64_t at = get("/api/v1/jobs/" + b).body.at("updated_at").as_int64();
  EXPECT_EQ(ids("/api/v1/jobs?updated_after=" + std::to_string(at)), (Ids{c, b}));
  EXPECT_EQ(ids("/api/v1/jobs?updated_before=" + std::to_string(at)), (Ids{b, a}));
}

TEST_F(JobListApi, PagesMissNothingAlsoWhereAllChangedInOneMicrosecond) {
  std::set<std::string> all, seen;
  for (int i = 0; i < 7; ++i) all.insert(submit_job());
  for (int i = 0; i < 3; ++i) all.insert(submit_at(R"({"prompt":"p","topic":"job.train"})"));
  for (const char* filter : {"", "&state=PENDING", "&state=PENDING,RUNNING"}) {
    std::string cursor;
    seen.clear();
    int pages = 0;
    do {
      Answered page = get("/api/v1/jobs?limit=2" + std::string(filter) + "&cursor=" + cursor);
      ASSERT_EQ(page.status, 200);
      for (const json::value& item : page.items()) seen.emplace(item.at("id").as_string());
      cursor = page.text("next_cursor");
      ASSERT_LT(++pages, 20);
    } while (!cursor.empty());
    EXPECT_EQ(seen, all) << filter;
  }
}

TEST_F(JobListApi, ARareStateIsFoundBehindManyOthers) {
  std::string rare = submit_at(R"({"prompt":"p","team_id":"rare"})");
  for (int i = 0; i < 30; ++i) submit_at();
  Answered page = get("/api/v1/jobs?limit=5&team=rare");
  ASSERT_EQ(page.items().size(), 1u);
  EXPECT_EQ(page.items()[0].at("id").as_string(), rare.c_str());
  EXPECT_TRUE(page.body.at("next_cursor").is_null());
}

TEST_F(JobListApi, RefusesWhatItCannotRead) {
  EXPECT_EQ(get("/api/v1/jobs?state=NOPE").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=x").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=0").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?cursor=nonsense").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?updated_after=soon").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=100000").status, 200);
}

TEST_F(JobListApi, TheClientsOwnFormHasTimesAsText) {
  submit_at();
  EXPECT_TRUE(get("/api/v1/jobs").items()[0].at("updated_at").is_int64());
  Pairs sdk{{"user-agent", "cordum-sdk-python/1.2"}};
  EXPECT_TRUE(get("/api/v1/jobs", sdk).items()[0].at("updated_at").is_string());
}

TEST_F(JobListApi, AFailedJobTellsWhy) {
  worker("w1");
  std::string job = submit_job();
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_FAILED);
  Answered detail = get("/api/v1/jobs/" + job);
  EXPECT_EQ(detail.text("state"), "FAILED");
  EXPECT_EQ(detail.text("error_status"), "FAILED");
  EXPECT_FALSE(detail.text("last_state").empty());
  EXPECT_TRUE(detail.object().contains("finished_at"));
}

TEST_F(JobListApi, AResultIsShownAsJsonOrText) {
  worker("w1");
  std::string job = submit_job();
  (void)run_answer(
      store_.put_blob("res:" + job, {R"({"answer":42})", {}}, store::BlobCondition::kAlways));
  finish(job, "w1", cordum::agent::v1::JOB_STATUS_SUCCEEDED, "redis://res:" + job);
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("result").at("answer"), 42);
  (void)run_answer(
      store_.put_blob("res:" + job, {"plain words", {}}, store::BlobCondition::kAlways));
  EXPECT_EQ(get("/api/v1/jobs/" + job).body.at("result"), "plain words");
}

TEST_F(JobListApi, TimelineAndDecisionsTellTheJobsWay) {
  worker("w1");
  std::string job = submit_job();
  Answered timeline = get("/api/v1/jobs/" + job + "/timeline");
  ASSERT_GE(timeline.items().size(), 2u);
  EXPECT_EQ(timeline.items().back().at("state"), "RUNNING");
  Answered decisions = get("/api/v1/jobs/" + job + "/decisions");
  ASSERT_EQ(decisions.body.as_array().size(), 1u);
  EXPECT_EQ(decisions.body.at(0).at("decision"), "ALLOW");
  EXPECT_EQ(get("/api/v1/jobs/nope/timeline").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/nope/decisions").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/nope").status, 404);
}

TEST_F(JobListApi, ATraceTellsItsJobs) {
  std::string job = submit_job();
  std::string trace = get("/api/v1/jobs/" + job).text("trace_id");
  Answered jobs = get("/api/v1/traces/" + trace);
  ASSERT_EQ(jobs.body.as_array().size(), 1u);
  EXPECT_EQ(get("/api/v1/traces/none").body.as_array().size(), 0u);
  caller_ = {TenantId("acme"), false, Role::kViewer, {}};
  EXPECT_EQ(get("/api/v1/traces/" + trace).body.as_array().size(), 0u);
}

TEST_F(JobListApi, HealthAndStatusAnswer) {
  worker("w1");
  submit_job();
  EXPECT_EQ(get("/health").text("status"), "healthy");
  EXPECT_EQ(get("/readyz").text("status"), "ok");
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/api/v1/health").status, 200);
  Answered status = get("/api/v1/status");
  EXPECT_EQ(status.body.at("nats").at("connected"), true);
  EXPECT_EQ(status.body.at("redis").at("ok"), true);
  EXPECT_EQ(status.body.at("workers").at("count"), 1);
  EXPECT_EQ(status.body.at("pipeline").at("running"), 1);
  EXPECT_TRUE(status.object().contains("instance_id"));
  caller_.role = Role::kViewer;
  EXPECT_FALSE(get("/api/v1/status").object().contains("instance_id"));
}

}  // namespace
}  // namespace fairlead::http
