#include "cli/top_screen.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

TEST(Fitted, CutsLinesAndRowsAndNoCharacterInTwo) {
  EXPECT_EQ(fitted("one\ntwo\nthree\n", 2, 10), "one\x1b[K\r\ntwo\x1b[K\r\n");
  EXPECT_EQ(fitted("abc\n", 1, 2), "ab\x1b[K\r\n");
  EXPECT_EQ(fitted("\u00e4\u20ac\U0001f600x\n", 1, 3), "\u00e4\u20ac\U0001f600\x1b[K\r\n");
  EXPECT_EQ(fitted("\u00e4\u20acx", 1, 1), "\u00e4\x1b[K\r\n");
}

}  // namespace
}  // namespace fairlead::cli
