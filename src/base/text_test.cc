#include "base/text.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using Words = std::vector<std::string>;
using Parts = std::vector<std::string_view>;

TEST(Trim, TakesWhiteSpaceOffBothEndsOnly) {
  EXPECT_EQ(trim(" \t\r\n\v\fa b \n"), "a b");
  EXPECT_EQ(trim("a"), "a");
}

TEST(Trim, LeavesNothingOfBlanks) {
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(Lower, ChangesAsciiLettersAndNoOtherBytes) {
  EXPECT_EQ(lower("AZaz09_[@Ä"), "azaz09_[@Ä");
}

TEST(Normalised, SortsTrimsLowersAndDropsBlanksAndRepeats) {
  EXPECT_EQ(normalised({" GPU", "cpu", "", "  ", "gpu "}), (Words{"cpu", "gpu"}));
  EXPECT_EQ(normalised({}), Words{});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a.b..c.", '.'), (Parts{"a", "b", "", "c", ""}));
  EXPECT_EQ(split("abc", '.'), (Parts{"abc"}));
  EXPECT_EQ(split("", '.'), (Parts{""}));
}

TEST(Join, PutsTheSeparatorBetweenPartsOnly) {
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({}, ", "), "");
}

}  // namespace
}  // namespace fairlead
