#include "worker/progress_line.h"

#include <gtest/gtest.h>

namespace fairlead::worker {
namespace {

TEST(ProgressLine, IsReadInEveryForm) {
  struct Case {
    const char* line;
    int percent;
    const char* message;
    const char* step;
  };
  for (const Case& given :
       {Case{"40", 40, "", ""}, Case{"40 reading", 40, "reading", ""},
        Case{"40% reading it", 40, "reading it", ""}, Case{" reading ", 0, "reading", ""},
        Case{"3rd try", 0, "3rd try", ""}, Case{"250", 100, "", ""}, Case{"-5 x", 0, "x", ""},
        Case{R"({"percent":12.7,"message":"m","step":"s"})", 12, "m", "s"},
        Case{"{half", 0, "{half", ""}, Case{"nan", 0, "", ""}}) {
    auto read = parse_progress(given.line);
    ASSERT_TRUE(read.has_value()) << given.line;
    EXPECT_EQ(read->percent, given.percent) << given.line;
    EXPECT_EQ(read->message, given.message) << given.line;
    EXPECT_EQ(read->step, given.step) << given.line;
  }
  EXPECT_FALSE(parse_progress("  ").has_value());
}

TEST(ProgressLine, BytesThatAreNoTextDoNotLeaveTheWorker) {
  EXPECT_EQ(as_utf8("a\xff\xc3(\xed\xa0\x80 ü€😀"),
            std::string("a?") + "?(" + "?" + "?" + "? ü€😀");
  EXPECT_EQ(as_utf8("\xf0\x9f"), std::string(2, '?'));
}

}  // namespace
}  // namespace fairlead::worker
