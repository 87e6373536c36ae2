#include "store/cursor.h"

#include <gtest/gtest.h>

namespace fairlead::store {
namespace {

TEST(Cursor, ComesBackAsItWasMade) {
  for (Position position : {Position{wall_time_from_micros(17), "job.with.dots", false},
                            Position{wall_time_from_micros(-1), "", true}}) {
    EXPECT_EQ(parse_cursor(to_cursor(position)), position);
  }
}

TEST(Cursor, OfAnybodyElseIsNone) {
  for (const char* text : {"", "l", "x1.a", "l1", "l1x.a", "lx.a", "l.a"}) {
    EXPECT_EQ(parse_cursor(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fairlead::store
