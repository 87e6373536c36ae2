#include "cli/output.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/placement_text.h"
#include "cli/top_screen.h"

namespace fairlead::cli {
namespace {

TEST(Output, ColumnsStandUnderTheirNames) {
  Table table({"A", "LONG", "C"});
  table.add({"wörd", "1", "x\x1b[2Jy"});
  EXPECT_EQ(table.text(), "A     LONG  C\nwörd  1     x [2Jy\n");
  EXPECT_EQ(listing({{"Id", "1"}, {"None", ""}, {"State", "S"}}), "Id:     1\nState:  S\n");
}

TEST(Output, JsonIsIndented) {
  EXPECT_EQ(pretty(json::parse(R"({"a":[1,{"b":null}],"c":{},"d":[]})")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {},\n"
            "  \"d\": []\n}\n");
}

TEST(Output, NumbersAreShownAsPeopleWriteThem) {
  EXPECT_EQ(pretty(json::parse(R"({"price":0.1,"n":12})")),
            "{\n  \"price\": 0.1,\n  \"n\": 12\n}\n");
}

TEST(Output, TimesAreShort) {
  using namespace std::chrono_literals;
  EXPECT_EQ(short_time(59s), "59s");
  EXPECT_EQ(short_time(5min), "5m");
  EXPECT_EQ(short_time(3h), "3h");
  EXPECT_EQ(short_time(72h), "3d");
  EXPECT_EQ(short_time(-1s), "0s");
  EXPECT_EQ(age(wall_time_from_micros(10'000'000), 7'000'000), "3s");
}

TEST(Output, APlacementIsToldInWords) {
  EXPECT_EQ(placement_text(json::parse(
                R"({"chosen":{"worker_id":"w1","by_hint":true},"rejected":[{"worker_id":"w2",
                "pool":"p","cause":"overloaded","detail":"load 4 of 4"}],
                "hints":[{"hint":"preferred_worker_id","value":"w1","accepted":true}]})")),
            "Would go to w1, as its hint asked\nWORKER  POOL  CAUSE       DETAIL\n"
            "w2      p     overloaded  load 4 of 4\nHint preferred_worker_id=w1: taken \n");
  EXPECT_EQ(placement_text(json::parse(R"({"chosen":null,"reason":"no_workers","detail":"d"})")),
            "No worker now: no_workers d\n");
}

TEST(TopScreen, RatesAreAgainstThePictureBefore) {
  using namespace std::chrono_literals;
  TopScreen screen;
  const json::value status = json::parse(R"({"pipeline":{"running":1},"workers":{"count":2}})");
  auto queues = [](int received, int done) {
    return json::parse(fmt::format(
        R"({{"items":[{{"topic":"job.a","counts":{{"PENDING":3}},"oldest_age_seconds":7,)"
        R"("received_total":{},"completed_total":{}}}]}})",
        received, done));
  };
  const json::value workers = json::parse(
      R"({"items":[{"worker_id":"w1","pool":"p","load":1,"max_parallel_jobs":4,"cpu_load":12.3}]})");
  const MonotonicTime now(100s);
  EXPECT_NE(screen.draw(status, queues(10, 5), workers, now).find("job.a  3        0        7s"),
            std::string::npos);
  const std::string second = screen.draw(status, queues(30, 10), workers, now + 2s);
  EXPECT_NE(second.find("10.0/s  2.5/s  10"), std::string::npos) << second;
  EXPECT_NE(second.find("w1      p     1/4   12%"), std::string::npos) << second;
}

}  // namespace
}  // namespace fairlead::cli
