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

TEST(Text, TellsUtf8FromOtherBytes) {
  for (const char* text : {"", "plain", "\u00e9", "\u20ac x", "\U0001f6a2", "\u0080", "\u0800"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xc3", "a\xe2\x82", "\xc3(", "\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(std::string(text));
  }
}

TEST(Text, FindsWhatIsNoUtf8WhereverItStands) {
  for (size_t before = 0; before < 20; ++before) {
    std::string text(before, 'a');
    EXPECT_TRUE(is_utf8(text + "\u00e4" + text)) << before;
    EXPECT_FALSE(is_utf8(text + "\xff" + text)) << before;
    EXPECT_FALSE(is_utf8(text + "\xc3")) << before;
  }
}

TEST(Text, WellFormedStandsInForWhatIsNoUtf8) {
  EXPECT_EQ(well_formed("plain \u20ac"), "plain \u20ac");
  EXPECT_EQ(well_formed("a\xff"
                        "b\xc3"),
            "a\ufffd"
            "b\ufffd");
  EXPECT_TRUE(is_utf8(well_formed("\xe2\x82 \xf0\x9f\x98")));
}

TEST(Text, CutLeavesNoHalfCharacter) {
  EXPECT_EQ(cut("abc", 5), "abc");
  EXPECT_EQ(cut("abc", 2), "ab");
  EXPECT_EQ(cut("a\u20ac", 4), "a\u20ac");
  EXPECT_EQ(cut("a\u20ac", 3), "a");
  EXPECT_EQ(cut("a\u20ac", 1), "a");
  EXPECT_EQ(cut("\u20ac", 2), "");
  EXPECT_EQ(cut("\x80\x80\x80\x80\x80\x80", 5).size(), 5u) << "no characters at all";
  EXPECT_EQ(cut("", 0), "");
}

}  // namespace
}  // namespace fairlead
