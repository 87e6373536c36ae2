#include "base/percent.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Percent, IsDecoded) {
  EXPECT_EQ(percent_decoded(""), "");
  EXPECT_EQ(percent_decoded("a%40b%2fc%2F%25"), "a@b/c/%");
}

TEST(Percent, ThatStandsForNothingIsNone) {
  for (const char* text : {"%", "a%4", "%4g", "%g4", "%-1"}) {
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fairlead
