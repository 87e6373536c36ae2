// What a filter chooses is dealt with in batches: `job cancel`, `dlq retry` and `dlq delete`.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "tests/cli/cli_program.h"
#include "tests/cli/other_gateway.h"

namespace fairlead::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string name(int number) {
  return "j" + std::to_string(number);
}

// What a server says of the jobs from `first` to before `end`, those below `bad` having failed.
struct Batch {
  int first = 0;
  int end = 0;
  int bad = 0;
  bool more = true;

  json::object common() const {
    json::array ids, failed;
    for (int i = first; i < end; ++i) ids.emplace_back(name(i));
    for (int i = first; i < bad; ++i) {
      failed.push_back(json::object{{"job_id", name(i)}, {"error", "gone"}});
    }
    return {{"dry_run", false},
            {"matched", ids.size()},
            {"job_ids", ids},
            {"failed", failed},
            {"more", more}};
  }
  std::pair<std::string, int> cancelled() const {
    json::object body = common();
    body["cancelled"] = end - std::max(first, bad);
    return {json::serialize(body), 200};
  }
  std::pair<std::string, int> deleted() const {
    json::object body = common();
    json::array done;
    for (int i = std::max(first, bad); i < end; ++i) {
      done.push_back(json::object{{"job_id", name(i)}});
    }
    body["done"] = done;
    return {json::serialize(body), 200};
  }
};

std::vector<int64_t> sizes_asked(OtherGateway& server) {
  std::vector<int64_t> sizes;
  for (const Asked& asked : server.every()) {
    if (asked.body.empty()) continue;
    sizes.push_back(json::parse(asked.body).at("max").as_int64());
  }
  return sizes;
}

TEST(CliBulk, BatchesAddUpToWhatWasWanted) {
  OtherGateway server(
      {Batch{0, 100}.cancelled(), Batch{100, 200}.cancelled(), Batch{200, 250}.cancelled()});
  const Ran ran = run_at(server.url(), "cli_program",
                         {"job", "cancel", "--all", "--max", "250", "--reason", "dear"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "250 of 250 cancelled\nthere are more: give a larger --max\n");
  EXPECT_THAT(sizes_asked(server), ElementsAre(100, 100, 50));
  for (const Asked& asked : server.every()) {
    EXPECT_EQ(asked.line, "POST /api/v1/jobs/cancel");
    EXPECT_EQ(json::parse(asked.body).at("reason"), "dear");
  }
}

TEST(CliBulk, TheOutcomeOfAllBatchesIsOneDocument) {
  OtherGateway server({Batch{0, 100}.deleted(), Batch{100, 130, 0, false}.deleted()});
  const Ran ran = run_at(server.url(), "cli_program",
                         {"dlq", "delete", "--all", "--max", "1000", "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0);
  const json::value told = json::parse(ran.output);
  EXPECT_EQ(told.at("matched"), 130);
  EXPECT_EQ(told.at("job_ids").as_array().size(), 130u);
  EXPECT_EQ(told.at("done").as_array().size(), 130u);
  EXPECT_EQ(told.at("more"), false);
}

TEST(CliBulk, JobsThatCouldNotBeCancelledAreAFailure) {
  OtherGateway server({Batch{0, 3, 2, false}.cancelled()});
  const Ran ran = run_at(server.url(), "cli_program", {"job", "cancel", "--topic", "job.default"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.output, "1 of 3 cancelled\n");
}

TEST(CliBulk, WhatLiesBehindThoseThatFailIsReached) {
  OtherGateway server({Batch{0, 100, 100}.deleted(), Batch{0, 200, 100}.deleted(),
                       Batch{0, 100, 100, false}.deleted()});
  const Ran ran = run_at(server.url(), "cli_program", {"dlq", "delete", "--all", "--max", "1000"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(sizes_asked(server), ElementsAre(100, 200, 200));
}

TEST(CliBulk, WhatFailsAgainWhileOthersAreRetriedIsNotRetriedAgain) {
  const std::string now = "2026-01-02T03:04:05.000006Z";
  OtherGateway server({{R"({"time":")" + now + R"("})", 200},
                       Batch{0, 100, 0}.deleted(),
                       Batch{100, 150, 0, false}.deleted()});
  const Ran ran = run_at(server.url(), "cli_program", {"dlq", "retry", "--all", "--max", "1000"});
  EXPECT_EQ(ran.exit_code, 0);
  const std::vector<Asked>& asked = server.every();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].line, "GET /api/v1/status");
  for (size_t i : {1, 2}) {
    EXPECT_EQ(json::parse(asked[i].body).at("filter").at("created_before").as_string(), now);
  }
}

TEST(CliBulk, ThoseThatFailAreNotTriedForEver) {
  OtherGateway server({Batch{0, 10, 10}.cancelled(), Batch{0, 10, 10}.cancelled()});
  const Ran ran = run_at(server.url(), "cli_program", {"job", "cancel", "--all", "--max", "1000"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.output, "0 of 10 cancelled\nthere are more that were not reached\n");
  EXPECT_EQ(server.every().size(), 2u);
}

TEST(CliBulk, OneThatFailsAtFirstAndThenDoesNotHasNotFailed) {
  OtherGateway server({Batch{0, 10, 1}.cancelled(), Batch{0, 1, 0, false}.cancelled()});
  const Ran ran = run_at(server.url(), "cli_program", {"job", "cancel", "--all", "--max", "1000"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "10 of 10 cancelled\n");
}

TEST(CliBulk, WhatWasDoneIsToldWhenALaterBatchIsNotAnswered) {
  OtherGateway server({Batch{0, 100}.cancelled(), {R"({"error":"the store is full"})", 503}});
  const Ran ran = run_at(server.url(), "cli_program", {"job", "cancel", "--all", "--max", "1000"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, HasSubstr("100 of 100 cancelled\n"));
  EXPECT_THAT(ran.output, HasSubstr("fairlead: the store is full\n"));
}

TEST(CliBulk, ADryRunIsOneCall) {
  OtherGateway server({Batch{0, 2}.cancelled()});
  const Ran ran =
      run_at(server.url(), "cli_program", {"job", "cancel", "--all", "--max", "500", "--dry-run"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.output, testing::StartsWith("j0\nj1\n"));
  EXPECT_THAT(sizes_asked(server), ElementsAre(500));
  EXPECT_EQ(json::parse(server.asked().body).at("dry_run"), true);
}

TEST(CliBulk, OneWhoLooksSeesHowFarItIs) {
  OtherGateway server({Batch{0, 100}.cancelled(), Batch{100, 120, 0, false}.cancelled()});
  const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "cli_program";
  edge::Child child(
      {"script", "-qfec", program + " job cancel --all --max 1000 --server " + server.url(),
       "/dev/null"},
      {{"TERM", "xterm"}});
  EXPECT_EQ(child.wait(), 0);
  EXPECT_THAT(child.output(), HasSubstr("\r\x1b[K100 cancelled so far"));
  EXPECT_THAT(child.output(), HasSubstr("\r\x1b[K120 of 120 cancelled"));
}

}  // namespace
}  // namespace fairlead::http
