// The verbs of cordumctl.
#include "tests/cli/cli_program.h"
#include "tests/cli/other_gateway.h"

namespace fairlead::http {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST_F(CliProgram, AsCordumctlItPrintsWhatThatToolPrints) {
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  const Ran submitted = cordumctl({"job", "submit", "--topic", "job.default", "--prompt",
                                   "hint probe", "--labels", R"({"preferred_worker_id":"w2"})"});
  EXPECT_EQ(submitted.exit_code, 0);
  EXPECT_THAT(submitted.output, MatchesRegex("[0-9a-f-]{36}\n"));
  const std::string job = first_line(submitted);
  EXPECT_EQ(run({"job", "wait", job}).exit_code, 0);
  EXPECT_EQ(cordumctl({"job", "status", job}).output, "SUCCEEDED\n");
  EXPECT_THAT(cordumctl({"job", "status", job, "--json"}).output, HasSubstr("\"state\": \"SUCC"));
  EXPECT_THAT(cordumctl({"status"}).output, HasSubstr("NATS:     embedded"));
  EXPECT_THAT(cordumctl({"pool", "list"}).output, HasSubstr("UTILIZATION"));
  EXPECT_THAT(cordumctl({"topic", "list"}).output, HasSubstr("ACTIVE WORKERS"));
}

TEST_F(CliProgram, AsCordumctlEveryErrorIsOneLineAndExitsWithOne) {
  const Ran unknown = cordumctl({"job", "status", "nope"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.output, testing::StartsWith("cordumctl: unexpected status 404: {"));
  const Ran topic = cordumctl({"job", "submit", "--topic", "job.new", "--prompt", "x"});
  EXPECT_EQ(topic.exit_code, 1);
  EXPECT_THAT(topic.output, HasSubstr("cordumctl topic create job.new --pool default"));
  EXPECT_EQ(cordumctl({"job", "submit", "--prompt", "x"}).output,
            "cordumctl: --topic is required\n");
  EXPECT_EQ(cordumctl({"jump"}).exit_code, 1);
}

struct Told {
  Words words;
  std::string call;
  std::string body;
  std::string answer;
  std::string output;
};

TEST(CordumctlElsewhere, EveryVerbAsksAGatewayThatHasItAsThatToolDoes) {
  const std::string flow = testing::TempDir() + "flow.json";
  std::ofstream(flow) << R"({"name":"n"})";
  const Told all[] = {
      {{"workflow", "create", "--file", flow},
       "POST /api/v1/workflows",
       R"({"name":"n"})",
       R"({"id":"wf1"})",
       "wf1\n"},
      {{"job", "logs", "j1"},
       "GET /api/v1/jobs/j1",
       "",
       R"({"id":"j1","result":"done"})",
       "done\n"},
      {{"job", "logs", "j1"},
       "GET /api/v1/jobs/j1",
       "",
       R"({"id":"j1","result":{"price":0.1}})",
       "{\n  \"price\": 0.1\n}\n"},
      {{"job", "logs", "j1"},
       "GET /api/v1/jobs/j1",
       "",
       R"({"id":"j1","result":null,"error_message":"no good"})",
       "no good\n"},
      {{"job", "logs", "j1"},
       "GET /api/v1/jobs/j1",
       "",
       R"({"id":"j1","result":null})",
       "{\n  \"id\": \"j1\",\n  \"result\": null\n}\n"},
      {{"dlq", "retry", "j1"}, "POST /api/v1/dlq/j1/retry", "{}", R"({"job_id":"j2"})", ""},
      {{"workflow", "delete", "wf1"}, "DELETE /api/v1/workflows/wf1", "", "", ""},
      {{"run", "start", "wf1", "--input", R"({"a":1})", "--dry-run", "--idempotency-key", "k"},
       "POST /api/v1/workflows/wf1/runs?dry_run=true&idempotency_key=k",
       R"({"a":1})",
       R"({"run_id":"r1"})",
       "r1\n"},
      {{"run", "start", "wf1", "--debug"},
       "POST /api/v1/workflows/wf1/runs",
       "{}",
       R"({"run_id":"r1"})",
       "POST /api/v1/workflows/wf1/runs\n{}\nr1\n"},
      {{"run", "get", "r1"},
       "GET /api/v1/workflow-runs/r1",
       "",
       R"({"id":"r1"})",
       "{\n  \"id\": \"r1\"\n}\n"},
      {{"run", "timeline", "r1"}, "GET /api/v1/workflow-runs/r1/timeline", "", "[]", "[]\n"},
      {{"run", "delete", "r1"}, "DELETE /api/v1/workflow-runs/r1", "", "", ""},
      {{"approval", "job", "j1", "--approve"}, "POST /api/v1/approvals/j1/approve", "{}", "{}", ""},
      {{"approval", "job", "--reject", "j1"}, "POST /api/v1/approvals/j1/reject", "{}", "{}", ""},
      {{"approval", "step", "wf1", "r1", "s1", "--reject"},
       "POST /api/v1/workflows/wf1/runs/r1/steps/s1/approve",
       R"({"approved":false})",
       "",
       ""},
      {{"approval", "repair", "j1", "--apply", "--note", "n"},
       "POST /api/v1/approvals/j1/repair",
       R"({"apply":true,"note":"n"})",
       R"({"applied":true})",
       "{\n  \"applied\": true\n}\n"},
      {{"worker", "credential", "create", "--worker-id", "w1", "--allowed-pools", "a,b",
        "--allowed-topics", "job.a"},
       "POST /api/v1/workers/credentials",
       R"({"worker_id":"w1","allowed_pools":["a","b"],"allowed_topics":["job.a"]})",
       R"({"worker_id":"w1","token":"t0k3n"})",
       "the token of w1 is shown this once: keep it\nt0k3n\n"},
      {{"worker", "credential", "revoke", "w1"},
       "DELETE /api/v1/workers/credentials/w1",
       "",
       "",
       "Worker credential \"w1\" revoked\n"},
      {{"worker", "credential", "list"},
       "GET /api/v1/workers/credentials",
       "",
       R"({"items":[]})",
       "no worker credentials provisioned\n"},
  };
  for (const Told& told : all) {
    OtherGateway gateway(told.answer);
    const Ran ran = run_at(gateway.url(), "cordumctl", told.words);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_EQ(ran.output, told.output);
    EXPECT_EQ(gateway.asked(), (Asked{told.call, told.body}));
  }
}

TEST(CordumctlElsewhere, CredentialsAreListedWithoutTheirTokens) {
  OtherGateway gateway(R"({"items":[{"worker_id":"w1","allowed_pools":["a","b"],
      "created_by":"ops","created_at":"2026-01-02T03:04:05Z"},
      {"worker_id":"w2","revoked_at":"2026-01-03T00:00:00Z"}]})");
  const Ran ran = run_at(gateway.url(), "cordumctl", {"worker", "credential", "list"});
  EXPECT_THAT(ran.output, HasSubstr("WORKER ID  STATUS   POOLS  TOPICS  PACK ID"));
  EXPECT_THAT(ran.output, HasSubstr("w1         active   a, b   -       -        ops"));
  EXPECT_THAT(ran.output, HasSubstr("w2         revoked"));
}

TEST(CordumctlElsewhere, KeyAndTenantComeFromFlagsOrTheEnvironment) {
  auto head_of = [](const Words& more, const std::map<std::string, std::string>& variables) {
    OtherGateway gateway("{}");
    Words words{"run", "get", "r1"};
    words.insert(words.end(), more.begin(), more.end());
    run_at(gateway.url(), "cordumctl", words, variables);
    return gateway.head();
  };
  const std::string plain = head_of({}, {});
  EXPECT_THAT(plain, HasSubstr("X-Tenant-ID: default\r\n"));
  EXPECT_THAT(plain, testing::Not(HasSubstr("X-API-Key")));
  const std::string told = head_of({}, {{"CORDUM_API_KEY", "k1"}, {"CORDUM_TENANT_ID", "acme"}});
  EXPECT_THAT(told, HasSubstr("X-API-Key: k1\r\n"));
  EXPECT_THAT(told, HasSubstr("X-Tenant-ID: acme\r\n"));
  const std::string flags = head_of({"-api-key", "k2", "--tenant=beta"},
                                    {{"CORDUM_API_KEY", "k1"}, {"CORDUM_TENANT_ID", "acme"}});
  EXPECT_THAT(flags, HasSubstr("X-API-Key: k2\r\n"));
  EXPECT_THAT(flags, HasSubstr("X-Tenant-ID: beta\r\n"));
}

TEST(CordumctlElsewhere, AnErrorIsItsStatusAndItsBody) {
  OtherGateway gateway(R"({"error":"no","code":"no","status":418})", 418);
  const Ran ran = run_at(gateway.url(), "cordumctl", {"run", "get", "r1"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(
      ran.output,
      "cordumctl: unexpected status 418: {\"error\":\"no\",\"code\":\"no\",\"status\":418}\n");
}

TEST(CordumctlElsewhere, StatusTellsOfTheLicenseAndItsUsageWhereThereIsOne) {
  OtherGateway gateway(
      {{R"({"build":{"version":"1"},"license":{"tier":"team","expires_at":"2027-01-01"}})", 200},
       {R"({"usage":{"workers":{"current":2,"limit":25}}})", 200}});
  const Ran ran = run_at(gateway.url(), "cordumctl", {"status"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.output, HasSubstr("Tier:     team\nExpiry:   2027-01-01\n"));
  EXPECT_THAT(ran.output, HasSubstr("USAGE    CURRENT  LIMIT\nworkers  2        25\n"));
  EXPECT_EQ(gateway.asked().line, "GET /api/v1/license/usage");
}

TEST_F(CliProgram, AsCordumctlPoolsAreMadeChangedDrainedAndTakenAway) {
  EXPECT_EQ(
      cordumctl({"pool", "create", "spare", "--requires", "gpu", "--description", "d"}).output,
      "pool spare created\n");
  EXPECT_THAT(cordumctl({"pool", "get", "spare"}).output, HasSubstr("\"gpu\""));
  EXPECT_EQ(cordumctl({"pool", "update", "spare", "--description", "new", "--requires", ""}).output,
            "pool spare updated\n");
  EXPECT_THAT(cordumctl({"pool", "get", "spare"}).output, HasSubstr("\"description\": \"new\""));
  EXPECT_EQ(cordumctl({"pool", "topic", "add", "spare", "job.default"}).output,
            "topic job.default added to pool spare\n");
  EXPECT_THAT(cordumctl({"pool", "get", "spare"}).output, HasSubstr("\"job.default\""));
  EXPECT_EQ(cordumctl({"pool", "topic", "remove", "spare", "job.default"}).output,
            "topic job.default removed from pool spare\n");
  EXPECT_EQ(cordumctl({"pool", "drain", "spare", "--timeout", "1m30s"}).output,
            "pool spare is draining\n");
  EXPECT_THAT(cordumctl({"pool", "get", "spare"}).output, HasSubstr("\"status\": \"draining\""));
  EXPECT_EQ(cordumctl({"pool", "delete", "spare", "--force"}).output, "pool spare deleted\n");
  EXPECT_EQ(cordumctl({"pool", "get", "spare"}).exit_code, 1);
}

TEST_F(CliProgram, AsCordumctlATopicOfANewPoolIsMadeWithIt) {
  EXPECT_EQ(cordumctl({"topic", "create", "job.train", "--pool", "gpu-big"}).output,
            "topic job.train created\n");
  EXPECT_THAT(cordumctl({"topic", "list"}).output, HasSubstr("job.train    gpu-big"));
}

TEST_F(CliProgram, AsCordumctlADeadLetterIsRetriedWithoutAWord) {
  start_worker(cap::JOB_STATUS_FAILED, "no good");
  const std::string job = first_line(run({"job", "submit", "--wait", "x"}));
  const Ran retried = cordumctl({"dlq", "retry", job});
  EXPECT_EQ(retried.exit_code, 0);
  EXPECT_EQ(retried.output, "");
  EXPECT_THAT(run({"job", "list", "-o", "id"}).output, HasSubstr(job + "-retry-"));
}

TEST_F(CliProgram, AsCordumctlWhatThisServerHasNotIsOneLine) {
  for (const Words& words : {Words{"worker", "credential", "list"}, Words{"run", "get", "r1"},
                             Words{"approval", "job", "j1", "--approve"}}) {
    const Ran ran = cordumctl(words);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.output, testing::StartsWith("cordumctl: unexpected status 404: {"));
    EXPECT_EQ(std::ranges::count(ran.output, '\n'), 1) << ran.output;
  }
  EXPECT_EQ(cordumctl({"approval", "job", "j1"}).output, "cordumctl: give --approve or --reject\n");
  EXPECT_THAT(cordumctl({"worker", "credential", "create"}).output,
              HasSubstr("give the worker's id once"));
}

}  // namespace
}  // namespace fairlead::http
