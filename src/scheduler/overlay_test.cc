#include "scheduler/overlay.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace fairlead::scheduler {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kDocument = R"({"scope":"system","scope_id":"default","revision":7,"data":{
  "pools":{"topics":{"job.a":"one","job.b":["one","two"]},"pools":{"one":{},"two":{"requires":["gpu"]}}},
  "timeouts":{"reconciler":{"dispatch_timeout_seconds":10,"running_timeout_seconds":20}},
  "scheduler":{"input_fail_mode":"open","output_fail_mode":"closed"},
  "rate_limits":{"x":1}}})";

std::shared_ptr<const routing::PoolMap> pools(std::string_view text) {
  return std::make_shared<const routing::PoolMap>(*routing::parse_pool_map(text));
}

TimeoutsFile timeouts(std::string_view text) {
  return *parse_timeouts(text);
}

TEST(Overlay, SaysPoolsTimeoutsAndFailMode) {
  auto overlay = parse_overlay(kDocument);
  ASSERT_TRUE(overlay) << overlay.error().message;
  EXPECT_EQ(overlay->pools->pools_of(Topic("job.b"))->size(), 2u);
  EXPECT_EQ(overlay->timeouts->timeouts.dispatch, seconds(10));
  EXPECT_EQ(overlay->timeouts->timeouts.running, seconds(20));
  EXPECT_EQ(overlay->fail_mode, FailMode::kOpen);
}

TEST(Overlay, MaySayNothing) {
  for (const char* text :
       {"{}", R"({"data":{}})", R"({"data":{"safety":{}}})", R"({"data":null})"}) {
    auto overlay = parse_overlay(text);
    ASSERT_TRUE(overlay) << text;
    EXPECT_EQ(overlay->pools, nullptr);
    EXPECT_FALSE(overlay->timeouts);
    EXPECT_FALSE(overlay->fail_mode);
    EXPECT_EQ(overlay->canonical, "");
  }
}

TEST(Overlay, ThatMakesNoSenseIsAnErrorAsAWhole) {
  for (const char* text :
       {"", "[]", "nonsense", R"({"data":{"pools":{"topics":{"job.a":"missing"},"pools":{}}}})",
        R"({"data":{"pools":{"topics":{}}}})", R"({"data":{"timeouts":{"reconciler":{"x":1}}}})",
        R"({"data":{"timeouts":{"reconciler":{"dispatch_timeout_seconds":-1}}}})"}) {
    EXPECT_EQ(parse_overlay(text).error().code, ErrorCode::kInvalid) << text;
  }
}

TEST(Overlay, IsTheSameInAnyOrderOfNames) {
  auto one = parse_overlay(R"({"data":{"scheduler":{"input_fail_mode":"open"},
    "timeouts":{"reconciler":{"dispatch_timeout_seconds":1,"running_timeout_seconds":2}}},"revision":1})");
  auto two = parse_overlay(R"({"revision":2,"data":{"timeouts":{"reconciler":
    {"running_timeout_seconds":2,"dispatch_timeout_seconds":1}},"scheduler":{"input_fail_mode":"open"}}})");
  EXPECT_EQ(one->canonical, two->canonical);
  EXPECT_NE(one->canonical, parse_overlay(kDocument)->canonical);
}

TEST(Overlay, TakesInTheFilesOfAReplicaOnce) {
  const WallTime now = wall_time_from_micros(1'700'000'000'000'000);
  OverlayFiles files{
      pools("{topics: {job.a: p}, pools: {p: {requires: [gpu]}}}"),
      timeouts("{reconciler: {dispatch_timeout_seconds: 1, running_timeout_seconds: 2},"
               " topics: {job.a: {timeout_seconds: 3},"
               "          job.b: {dispatch_timeout_seconds: 5}}}")};
  auto made = merge_files("", files, now);
  ASSERT_TRUE(made && *made);
  EXPECT_THAT(**made, HasSubstr(R"("revision":1)"));
  EXPECT_THAT(**made, HasSubstr(R"("scope_id":"default")"));
  auto overlay = parse_overlay(**made);
  ASSERT_TRUE(overlay) << overlay.error().message;
  EXPECT_EQ(overlay->pools->find(PoolName("p"))->capabilities, std::vector<std::string>{"gpu"});
  EXPECT_EQ(overlay->timeouts->topics.at(Topic("job.a")).running, seconds(3));
  EXPECT_EQ(overlay->timeouts->topics.at(Topic("job.a")).dispatch, seconds(1));
  EXPECT_EQ(overlay->timeouts->topics.at(Topic("job.b")).dispatch, seconds(5));
  EXPECT_EQ(merge_files(**made, files, now).value(), std::nullopt);
}

TEST(Overlay, HasAllThatTheTimeoutsFileSaysForOtherServices) {
  const WallTime now = wall_time_from_micros(1'700'000'000'000'000);
  OverlayFiles files{
      nullptr, timeouts("{reconciler: {dispatch_timeout_seconds: 1, running_timeout_seconds: 2,"
                        " scan_interval_seconds: 30}, topics: {job.a: {max_retries: 4}},"
                        " workflows: {w: {child_timeout_seconds: 7, total_timeout_seconds: 0,"
                        " max_retries: 2}}}")};
  auto made = merge_files(R"({"data":{}})", files, now);
  ASSERT_TRUE(made && *made);
  const boost::json::value told = boost::json::parse(**made).at("data").at("timeouts");
  EXPECT_EQ(told, boost::json::parse(
                      R"({"reconciler":{"dispatch_timeout_seconds":1,"running_timeout_seconds":2,)"
                      R"("scan_interval_seconds":30},"topics":{"job.a":{"max_retries":4}},)"
                      R"("workflows":{"w":{"child_timeout_seconds":7,"total_timeout_seconds":0,)"
                      R"("max_retries":2}}})"));
}

TEST(Overlay, IsNotWrittenAgainWhenItSaysTheSameUnderAnothersHash) {
  const WallTime now = wall_time_from_micros(1'700'000'000'000'000);
  OverlayFiles files{pools("{topics: {job.a: p}, pools: {p: {}}}"),
                     timeouts("{reconciler: {dispatch_timeout_seconds: 1}}")};
  EXPECT_EQ(merge_files(R"({"data":{"_poolsFileHash":"go","_timeoutsFileHash":"go",
    "pools":{"topics":{"job.a":"p"},"pools":{"p":{"requires":[]}}},
    "timeouts":{"reconciler":{"dispatch_timeout_seconds":1}}}})",
                        files, now)
                .value(),
            std::nullopt);
}

TEST(Overlay, KeepsWhatItHasOfPoolsAndTakesTimeoutsAnew) {
  const WallTime now = wall_time_from_micros(1'700'000'000'000'000);
  OverlayFiles files{
      pools("{topics: {job.a: p, job.c: p}, pools: {p: {}, one: {requires: [x]}}}"),
      timeouts("{reconciler: {dispatch_timeout_seconds: 1, running_timeout_seconds: 2}}")};
  auto merged = merge_files(kDocument, files, now);
  ASSERT_TRUE(merged && *merged);
  auto overlay = parse_overlay(**merged);
  ASSERT_TRUE(overlay) << overlay.error().message;
  EXPECT_EQ(overlay->pools->pools_of(Topic("job.a"))->front(), PoolName("one"));
  EXPECT_EQ(overlay->pools->pools_of(Topic("job.c"))->front(), PoolName("p"));
  EXPECT_TRUE(overlay->pools->find(PoolName("one"))->capabilities.empty());
  EXPECT_EQ(overlay->timeouts->timeouts.running, seconds(2));
  EXPECT_THAT(**merged, HasSubstr(R"("revision":8)"));
  EXPECT_THAT(**merged, HasSubstr("rate_limits")) << "what is others' stays";
}

}  // namespace
}  // namespace fairlead::scheduler
