#include "base/go_duration.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(GoDuration, IsReadAsGoWritesIt) {
  EXPECT_EQ(parse_go_duration("10m"), 10min);
  EXPECT_EQ(parse_go_duration("168h"), 168h);
  EXPECT_EQ(parse_go_duration("1h30m5s"), 1h + 30min + 5s);
  EXPECT_EQ(parse_go_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_go_duration("250ms"), 250ms);
  EXPECT_EQ(parse_go_duration("7µs"), 7us);
  EXPECT_EQ(parse_go_duration("7us"), 7us);
  EXPECT_EQ(parse_go_duration("1500ns"), 1us);
  EXPECT_EQ(parse_go_duration("0"), 0s);
}

TEST(GoDuration, NeedsNumbersWithUnits) {
  for (const char* wrong : {"", "10", "m", "-1s", "-0s", "10 m", "1x", "1s2", "nan", "infs", "1e5s",
                            "99999999999999h"}) {
    EXPECT_EQ(parse_go_duration(wrong).error().code, ErrorCode::kInvalid) << wrong;
  }
  EXPECT_NE(parse_go_duration("ten").error().message.find("\"ten\""), std::string::npos);
}

}  // namespace
}  // namespace fairlead
