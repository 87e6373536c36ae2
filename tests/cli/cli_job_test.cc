// What `fairlead job` tells of jobs and their results.
#include <chrono>
#include <thread>

#include <unistd.h>

#include <boost/json/parse.hpp>

#include "tests/cli/cli_program.h"
#include "tests/cli/other_gateway.h"
#include "tests/edge/loopback.h"

namespace fairlead::http {
namespace {

using testing::HasSubstr;
using testing::Not;

class CliJob : public CliProgram {
 protected:
  // A job that a worker has ended with these bytes.
  std::string ended_with(const std::string& bytes) {
    start_worker(cap::JOB_STATUS_SUCCEEDED, {}, bytes);
    const std::string job = first_line(run({"job", "submit", "--wait", "x"}));
    return job;
  }
  std::string waiting_job() { return first_line(run({"job", "submit", "x"})); }
};

TEST_F(CliJob, LogsAreTheBytesThatTheWorkerStored) {
  for (const std::string& bytes :
       {std::string("12345678901234567890123"), std::string(R"({"price":0.1})"),
        std::string("null"), std::string("\xff\xfe raw \0 bytes", 13), std::string("a\nb\n"),
        std::string(5 << 20, 'x')}) {
    const Ran ran = run({"job", "logs", ended_with(bytes)});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_TRUE(ran.output == bytes) << ran.output.substr(0, 100);
  }
}

TEST_F(CliJob, AResultThatIsNoTextFailsNoVerb) {
  start_worker(cap::JOB_STATUS_SUCCEEDED, {}, "\xff\xfe");
  const Ran submitted = run({"job", "submit", "--wait", "x"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.output;
  EXPECT_THAT(submitted.output, HasSubstr("SUCCEEDED"));
  const Ran status = run({"job", "status", first_line(submitted)});
  EXPECT_EQ(status.exit_code, 0) << status.output;
  EXPECT_THAT(status.output, HasSubstr("State:     SUCCEEDED"));
}

TEST_F(CliJob, LogsOfAJobWithoutAResultAreOneLine) {
  const Ran running = run({"job", "logs", waiting_job()});
  EXPECT_EQ(running.exit_code, 1);
  EXPECT_EQ(running.output, "fairlead: the job has not ended, it is PENDING\n");
  start_worker(cap::JOB_STATUS_FAILED, "no good");
  const std::string failed = first_line(run({"job", "submit", "--wait", "x"}));
  const Ran error = run({"job", "logs", failed});
  EXPECT_EQ(error.exit_code, 1);
  EXPECT_EQ(error.output, "fairlead: no good\n");
  EXPECT_EQ(run({"job", "logs", "none"}).output, "fairlead: job not found\n");
  EXPECT_EQ(run({"job", "logs", failed, "-o", "json"}).exit_code, 2);
}

TEST_F(CliJob, AJobThatFailedAtOnceIsSaidToHaveFailedAndNothingIsAdvisedThatWouldNotHelp) {
  const Ran ran = run({"job", "submit", "--label", "preferred_pool=gpu", "x"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(json::parse(run({"job", "status", first_line(ran), "-o", "json"}).output).at("state"),
            "FAILED");
  EXPECT_THAT(ran.output, HasSubstr("fairlead: it failed: "));
  EXPECT_THAT(ran.output, HasSubstr("(no_pool_mapping)\n"));
  EXPECT_THAT(ran.output, Not(HasSubstr("it waits")));
  EXPECT_THAT(ran.output, Not(HasSubstr("topic create")));
  EXPECT_THAT(run({"job", "submit", "x"}).output, HasSubstr("fairlead: it waits: "));
}

TEST_F(CliJob, ExplainSaysWhereAJobIsAndOnlyOfOneThatWaitsWhereItWouldGo) {
  const std::string waits = waiting_job();
  EXPECT_THAT(run({"job", "explain", waits}).output, HasSubstr("No worker now: no_workers"));
  start_silent_worker();
  const std::string running = waiting_job();
  run({"job", "watch", running, "--timeout", "1s"});
  const std::string now = run({"job", "explain", running}).output;
  EXPECT_THAT(now, HasSubstr("Runs on w1 (epoch 1)"));
  EXPECT_THAT(now, Not(HasSubstr("Would go")));
  run({"job", "cancel", running});
  EXPECT_THAT(run({"job", "explain", running}).output, HasSubstr("CANCELLED, ran on w1 (epoch 1)"));
  const json::value told = json::parse(run({"job", "explain", running, "-o", "json"}).output);
  EXPECT_TRUE(told.at("placement").is_null());
  EXPECT_EQ(told.at("worker_id"), "w1");
  EXPECT_THAT(run({"route", "explain"}).output, HasSubstr("Would go to w1"));
}

TEST(CliJobElsewhere, WhyAJobWasCancelledIsShown) {
  {
    OtherGateway server(R"({"id":"j1","state":"CANCELLED","failure_reason":"too dear"})");
    EXPECT_THAT(run_at(server.url(), "cli_program", {"job", "status", "j1"}).output,
                HasSubstr("Reason:  too dear"));
  }
  OtherGateway server({{R"({"state":"CANCELLED"})", 200},
                       {R"({"items":[{"time":"t","state":"CANCELLED","epoch":0,"note":"cancelled",
            "reason":"too dear"}]})",
                        200}});
  EXPECT_THAT(run_at(server.url(), "cli_program", {"job", "explain", "j1"}).output,
              HasSubstr("CANCELLED  0      cancelled: too dear"));
}

TEST(CliJobElsewhere, WhatAKeyLacksIsSaid) {
  OtherGateway server({{R"({"error":"access denied","code":"access_denied","status":403,
      "required":"admin of every tenant","granted":"admin of tenant acme"})",
                        403}});
  const Ran ran = run_at(server.url(), "cli_program", {"topic", "delete", "job.x"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.output, HasSubstr("access denied; it takes the key of: admin of every tenant; "
                                    "this one is of: admin of tenant acme"));
}

TEST_F(CliJob, AJobThatNeverWentToAWorkerIsNotSaidToHaveRun) {
  const std::string job = waiting_job();
  run({"job", "cancel", job});
  EXPECT_THAT(run({"job", "explain", job}).output,
              HasSubstr("CANCELLED, without having been with a worker"));
}

TEST_F(CliJob, WaitingForASubmittedJobPrintsOneDocument) {
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  const Ran ran = run({"job", "submit", "--wait", "-o", "json", "x"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(json::parse(ran.output).at("state"), "SUCCEEDED");
  stop_worker();
  const Ran late = run({"job", "submit", "--wait", "--timeout", "100ms", "-o", "json", "x"});
  EXPECT_EQ(late.exit_code, 4);
  EXPECT_THAT(late.output, HasSubstr("\"job_id\""));
}

TEST_F(CliJob, EachOfSeveralJobsIsDealtWith) {
  const std::string one = waiting_job(), two = waiting_job();
  const Ran ran = run({"job", "cancel", one, "none", two});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, HasSubstr(one + " CANCELLED\n"));
  EXPECT_THAT(ran.output, HasSubstr("fairlead: none: job not found\n"));
  EXPECT_THAT(ran.output, HasSubstr(two + " CANCELLED\n"));
  const Ran again = run({"job", "cancel", one, two, "-o", "json"});
  EXPECT_EQ(again.exit_code, 1) << "they were over already";
  EXPECT_EQ(json::parse(again.output).as_array().size(), 2u);
}

TEST_F(CliJob, DeadLettersAreDeletedInOneDocument) {
  start_worker(cap::JOB_STATUS_FAILED, "no good");
  const std::string one = first_line(run({"job", "submit", "--wait", "x"}));
  const Ran deleted = run({"dlq", "delete", one, "-o", "json"});
  EXPECT_EQ(deleted.exit_code, 0);
  EXPECT_EQ(json::parse(deleted.output), (json::value{{"job_id", one}, {"deleted", true}}));
  const Ran both = run({"dlq", "delete", "no", "none"});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.output, HasSubstr("fairlead: none: "));
}

TEST_F(CliJob, WhatMakesNoSenseIsWrongWords) {
  const std::pair<Words, const char*> all[] = {
      {{"job", "submit", "--timeout", "1s", "x"}, "--timeout goes with --wait"},
      {{"job", "submit", "--priority", "weird", "x"},
       "--priority is 'weird', must be interactive, batch, critical"},
      {{"job", "submit", "--input", "nofile.json", "x"},
       "--input is neither JSON nor a file: nofile.json"},
      {{"job", "submit", "--input", "{oops", "x"}, "--input is no JSON: "},
      {{"job", "submit", "--wait", "--timeout", "soon", "x"}, "must be a time: 500ms, 10s, 1m30s"},
      {{"job", "list", "--limit", "0"}, "--limit is '0', must be a number from 1 on"},
      {{"dlq", "list", "--limit", "-1"}, "--limit is '-1', must be a number from 1 on"},
  };
  for (const auto& [words, message] : all) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(message));
  }
  EXPECT_EQ(run({"job", "list"}).output, "ID  STATE  TOPIC  WORKER  ATTEMPTS  CHANGED\n")
      << "and no job was made";
}

TEST_F(CliJob, HelpAboutAGroupShowsItsVerbs) {
  const Ran ran = run({"job", "--help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.output, HasSubstr("job explain ID"));
  EXPECT_THAT(ran.output, Not(HasSubstr("dlq")));
}

TEST(CliProgramAlone, AWaitOnASilentServerEndsWhenItsTimeIsOver) {
  const edge::Loopback silent;
  const auto began = std::chrono::steady_clock::now();
  const Ran ran = run_at(silent.url(), "cli_program", {"job", "wait", "j1", "--timeout", "300ms"});
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_THAT(ran.output, HasSubstr("did not answer in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace fairlead::http
