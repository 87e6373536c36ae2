#include "scheduler/fail_mode.h"

#include <gmock/gmock.h>

namespace fairlead::scheduler {
namespace {

TEST(FailMode, IsOpenOnlyWhereItSaysSo) {
  EXPECT_EQ(parse_fail_mode("input_policy:\n  fail_mode: open\n"), FailMode::kOpen);
  for (const char* closed :
       {"input_policy:\n", "input_policy: {fail_mode: closed}", "input_policy: {fail_mode: OPEN}",
        "output_policy: {fail_mode: open}", "input_policy: {fail_mode: }"}) {
    EXPECT_EQ(parse_fail_mode(closed), FailMode::kClosed) << closed;
  }
}

TEST(FailMode, OfAFileThatMakesNoSenseIsAnError) {
  for (const char* wrong :
       {"", "null", "[]", "input_policy: open", "input_policy: {fail_mode: [open]}", "a: ["}) {
    auto parsed = parse_fail_mode(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("safety policy"));
  }
}

}  // namespace
}  // namespace fairlead::scheduler
