#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

constexpr WallTime kMoment = wall_time_from_micros(1'767'323'045'000'006);

TEST(Rfc3339, IsWrittenToTheMicrosecondOrTheSecond) {
  EXPECT_EQ(rfc3339(kMoment), "2026-01-02T03:04:05.000006Z");
  EXPECT_EQ(rfc3339_seconds(kMoment), "2026-01-02T03:04:05Z");
}

TEST(Rfc3339, IsReadWithItsPrecision) {
  auto micros = parse_rfc3339("2026-01-02T03:04:05.000006Z");
  ASSERT_TRUE(micros);
  EXPECT_EQ(micros->time, kMoment);
  EXPECT_EQ(micros->unit, Duration(1));
  auto seconds = parse_rfc3339("2026-01-02T03:04:05Z");
  ASSERT_TRUE(seconds);
  EXPECT_EQ(seconds->time, kMoment - Duration(6));
  EXPECT_EQ(seconds->unit, std::chrono::seconds(1));
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.000006999Z")->time, kMoment) << "Go writes nine";
}

TEST(Rfc3339, OtherTextIsNoMoment) {
  for (const char* text :
       {"", "2026-01-02", "2026-13-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05.Z",
        "2026-01-02T25:04:05Z", "x026-01-02T03:04:05Z", "2026-01-02T03:04:05.0000060001Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

}  // namespace
}  // namespace fairlead
