// `doctor`, of both dialects.
#include <boost/json/parse.hpp>

#include "tests/cli/cli_program.h"
#include "tests/edge/loopback.h"

namespace fairlead::http {
namespace {

using testing::HasSubstr;

class Doctor : public CliProgram {
 protected:
  // The state of a check in the JSON that was printed.
  static std::string state_of(const Ran& ran, std::string_view id) {
    const json::value report = json::parse(ran.output);
    for (const json::value& check : report.at("checks").as_array()) {
      if (check.at("id").as_string() == id) return check.at("state").as_string().c_str();
    }
    return "";
  }
};

TEST_F(Doctor, WithoutAWorkerThatIsWorthAWordAndNoFailure) {
  const Ran ran = run({"doctor"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("warn  workers       no worker serves job.default"));
  EXPECT_THAT(ran.output, HasSubstr("→ fairlead worker --pool default -- COMMAND"));
  EXPECT_EQ(run({"doctor", "--strict"}).exit_code, 1);
  EXPECT_EQ(cordumctl({"doctor"}).exit_code, 0);
  EXPECT_EQ(cordumctl({"doctor", "--strict"}).exit_code, 1);
}

TEST_F(Doctor, WorkersAreNotLookedForWhenToldSo) {
  const Ran ran = cordumctl({"doctor", "--strict", "--skip-workers", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_EQ(state_of(ran, "workers_registered"), "skip");
  EXPECT_EQ(state_of(ran, "gateway_reachable"), "ok");
}

TEST_F(Doctor, TheReportIsJsonWithASummaryAndTheExitCode) {
  for (const Ran& ran : {cordumctl({"doctor", "--json"}), run({"doctor", "-o", "json"})}) {
    EXPECT_EQ(ran.exit_code, 0);
    const json::value report = json::parse(ran.output);
    EXPECT_EQ(report.at("exitCode").as_int64(), 0);
    EXPECT_EQ(report.at("summary"),
              (json::value{{"ok", 8}, {"warn", 1}, {"fail", 0}, {"skip", 0}}));
    for (const char* id : {"gateway_reachable", "gateway_auth", "nats_connected", "redis_ok",
                           "version_skew", "pools_used", "queues_moving", "dead_letters"}) {
      EXPECT_EQ(state_of(ran, id), "ok") << id;
    }
    EXPECT_EQ(state_of(ran, "workers_registered"), "warn");
  }
}

TEST(DoctorAlone, NothingOfAnAddressIsOfferedToAShellButItsPort) {
  const std::string place = "http://127.0.0.1:" + std::to_string(edge::Loopback().port());
  EXPECT_THAT(run_at(place, "cli_program", {"doctor", "--fix"}).output, HasSubstr("run it now?"));
  for (const char* tail : {"/$(touch x)", "/;touch x", "/api", ";touch x"}) {
    const Ran ran = run_at(place + tail, "cli_program", {"doctor", "--fix"});
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_THAT(ran.output, testing::Not(HasSubstr("run it now?"))) << tail;
  }
}

TEST_F(Doctor, EveryPoolWithoutAWorkerIsNamed) {
  run({"topic", "create", "job.train", "--pool", "gpu-big"});
  const std::string said = run({"doctor"}).output;
  EXPECT_THAT(said, HasSubstr("no worker serves job.default, job.train"));
  EXPECT_THAT(said, HasSubstr("→ fairlead worker --pool default -- COMMAND\n"));
  EXPECT_THAT(said, HasSubstr("→ fairlead worker --pool gpu-big -- COMMAND\n"));
}

TEST_F(Doctor, WorkersInAPoolThatNoTopicUsesAreNamed) {
  join([](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); }, "typo");
  const std::string said = run({"doctor"}).output;
  EXPECT_THAT(said,
              HasSubstr("warn  pools         workers wait in pools that no topic uses: typo"));
  EXPECT_THAT(said, HasSubstr("→ fairlead topic create job.NAME --pool typo"));
}

TEST_F(Doctor, AServerIsOfferedWhereItIsLookedFor) {
  auto fix_at = [](const std::string& url) {
    return run_at(url, "cli_program", {"doctor"}).output;
  };
  EXPECT_THAT(fix_at("http://127.0.0.1:1"),
              HasSubstr("→ fairlead up --listen-api 127.0.0.1:1 >>fairlead.log 2>&1 &"));
  EXPECT_THAT(fix_at("http://localhost:1"), HasSubstr("--listen-api 127.0.0.1:1 "));
  EXPECT_THAT(fix_at("https://127.0.0.1:1"), testing::Not(HasSubstr("→")));
}

TEST_F(Doctor, VerboseTellsWhatWasAsked) {
  EXPECT_THAT(cordumctl({"doctor", "--verbose"}).output,
              testing::ContainsRegex("queues_moving: GET /api/v1/queues, [0-9]+ ms"));
  EXPECT_THAT(cordumctl({"doctor"}).output, testing::Not(HasSubstr("queues_moving")));
}

TEST_F(Doctor, WrongWordsExitWithTwo) {
  EXPECT_EQ(cordumctl({"doctor", "--what"}).exit_code, 2);
  EXPECT_EQ(cordumctl({"doctor", "now"}).exit_code, 2);
  EXPECT_EQ(cordumctl({"doctor", "--timeout", "soon"}).exit_code, 2);
  const Ran both = cordumctl({"doctor", "--fix", "--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.output, HasSubstr("--fix asks questions"));
  EXPECT_EQ(cordumctl({"status", "--what"}).exit_code, 1) << "every other verb of it exits with 1";
}

TEST_F(Doctor, WithoutAServerOneCheckFailsAndTheRestIsSkipped) {
  const Ran ran = run_at("http://127.0.0.1:1", "cordumctl", {"doctor", "--json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(state_of(ran, "gateway_reachable"), "fail");
  EXPECT_EQ(json::parse(ran.output).at("summary").at("skip").as_int64(), 8);
  EXPECT_THAT(ran.output, HasSubstr("fairlead up"));
}

TEST_F(Doctor, AServerThatDoesNotAnswerIsWaitedForAsLongAsToldAndNoLonger) {
  const edge::Loopback silent;
  const auto began = std::chrono::steady_clock::now();
  const Ran ran = run_at(silent.url(), "cordumctl", {"doctor", "--timeout", "100ms"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, HasSubstr("did not answer in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace fairlead::http
