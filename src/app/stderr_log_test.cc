#include "app/stderr_log.h"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

class FixedClock final : public Clock {
 public:
  WallTime wall() const override { return wall_time_from_micros(1'700'000'000'000'001); }
  MonotonicTime monotonic() const override { return {}; }
};

TEST(StderrLog, TextIsOneLineWithThePhraseAsItIs) {
  FixedClock clock;
  StderrLog log({}, clock);
  EXPECT_EQ(log.line(Log::Level::kInfo, "strategy pick preferred worker",
                     {{"job_id", "7"}, {"worker_id", "w 1"}}),
            "2023-11-14T22:13:20.000001Z INFO strategy pick preferred worker job_id=7 "
            "worker_id=\"w 1\"\n");
}

TEST(StderrLog, ValuesFromOutsideDoNotBreakTheLine) {
  FixedClock clock;
  StderrLog text({}, clock);
  EXPECT_EQ(text.line(Log::Level::kError, "a\nb", {{"x", "1\n2\"3\" y=z"}, {"e", ""}}),
            "2023-11-14T22:13:20.000001Z ERROR a b x=\"1\\x0a2\\\"3\\\" y=z\" e=\"\"\n");
  StderrLog json({.json = true}, clock);
  EXPECT_EQ(json.line(Log::Level::kWarning, "no pool mapping for topic", {{"topic", "a\n\"b"}}),
            "{\"time\":\"2023-11-14T22:13:20.000001Z\",\"level\":\"warning\",\"message\":"
            "\"no pool mapping for topic\",\"topic\":\"a\\n\\\"b\"}\n");
}

TEST(StderrLog, SaysNothingBelowItsLevel) {
  FixedClock clock;
  StderrLog log({.level = Log::Level::kWarning}, clock);
  testing::internal::CaptureStderr();
  log.info("quiet", {});
  log.warning("loud", {});
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("quiet"), said.npos);
  EXPECT_NE(said.find("WARNING loud\n"), said.npos);
}

}  // namespace
}  // namespace fairlead::app
