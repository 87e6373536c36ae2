#include "scheduler/timeouts_file.h"

#include <gmock/gmock.h>

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TimeoutsFile parsed(std::string_view yaml) {
  auto file = parse_timeouts(yaml);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? *file : TimeoutsFile{};
}
std::string error_of(std::string_view yaml) {
  auto file = parse_timeouts(yaml);
  EXPECT_FALSE(file) << yaml;
  return file ? "" : file.error().message;
}

TEST(TimeoutsFile, SaysHowLongJobsMayTake) {
  TimeoutsFile file = parsed(R"(
reconciler: {dispatch_timeout_seconds: 30, running_timeout_seconds: 60, scan_interval_seconds: 5}
)");
  EXPECT_EQ(file.timeouts.dispatch, 30s);
  EXPECT_EQ(file.timeouts.running, 60s);
}

TEST(TimeoutsFile, WithoutASectionHasItsDefaults) {
  for (const char* yaml : {"{}", "topics: {}", "workflows:"}) {
    EXPECT_EQ(parsed(yaml).timeouts.dispatch, 300s) << yaml;
    EXPECT_EQ(parsed(yaml).timeouts.running, 9000s) << yaml;
  }
}

TEST(TimeoutsFile, AZeroIsTheShortestDefault) {
  TimeoutsFile file = parsed("reconciler: {dispatch_timeout_seconds: 0}");
  EXPECT_EQ(file.timeouts.dispatch, 120s);
  EXPECT_EQ(file.timeouts.running, 300s);
}

TEST(TimeoutsFile, ATopicMayHaveARunningTimeoutOfItsOwn) {
  TimeoutsFile file = parsed(R"(
topics:
  job.slow: {timeout_seconds: 7200, max_retries: 2}
  job.usual: {timeout_seconds: 0}
reconciler: {dispatch_timeout_seconds: 30, running_timeout_seconds: 60}
)");
  ASSERT_EQ(file.topics.size(), 1u);
  EXPECT_EQ(file.topics.at(Topic("job.slow")).running, 7200s);
  EXPECT_EQ(file.topics.at(Topic("job.slow")).dispatch, 30s);
}

TEST(TimeoutsFile, ATopicMayHaveADispatchTimeoutOfItsOwn) {
  TimeoutsFile file = parsed(R"(
topics:
  job.far: {dispatch_timeout_seconds: 1000}
  job.both: {dispatch_timeout_seconds: 10, running_timeout_seconds: 20}
reconciler: {dispatch_timeout_seconds: 30, running_timeout_seconds: 60}
)");
  EXPECT_EQ(file.topics.at(Topic("job.far")).dispatch, 1000s);
  EXPECT_EQ(file.topics.at(Topic("job.far")).running, 60s);
  EXPECT_EQ(file.topics.at(Topic("job.both")).dispatch, 10s);
  EXPECT_EQ(file.topics.at(Topic("job.both")).running, 20s);
}

TEST(TimeoutsFile, WorkflowsAreCheckedAndLeftToOthers) {
  parsed("workflows: {w: {child_timeout_seconds: 1, total_timeout_seconds: 2, max_retries: 3}}");
  EXPECT_THAT(error_of("workflows: {w: {timeout: 1}}"), HasSubstr("unknown key \"timeout\""));
}

TEST(TimeoutsFile, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT(error_of("reconciler:\n  running_timeout_seconds: -1"),
              HasSubstr("line 2: running_timeout_seconds \"-1\" must be a whole number"));
  EXPECT_THAT(error_of("reconcilers: {}"), HasSubstr("line 1: unknown key \"reconcilers\""));
  EXPECT_THAT(error_of("reconciler: {x: 1}"), HasSubstr("it may have dispatch_timeout_seconds"));
  EXPECT_THAT(error_of("reconciler: 7"), HasSubstr("reconciler must be a map"));
  EXPECT_THAT(error_of("{"), HasSubstr("timeouts file is no YAML"));
}

}  // namespace
}  // namespace fairlead::scheduler
