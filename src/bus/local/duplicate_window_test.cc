#include "bus/local/duplicate_window.h"

#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::bus {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime at(Duration time) {
  return MonotonicTime(time);
}

TEST(DuplicateWindow, RemembersAnIdForAsLongAsItsWindow) {
  DuplicateWindow window;
  window.remember("id", Sequence(7), at(0s));
  EXPECT_TRUE(window.seen("id", at(limits::kDuplicateWindow - 1us)));
  EXPECT_FALSE(window.seen("id", at(limits::kDuplicateWindow)));
  EXPECT_EQ(window.size(), 0u);
}

TEST(DuplicateWindow, CountsAnIdFromItsFirstTime) {
  DuplicateWindow window;
  window.remember("id", Sequence(7), at(0s));
  window.remember("id", Sequence(8), at(1s));
  EXPECT_EQ(window.size(), 1u);
  EXPECT_EQ(window.seen("id", at(1s)), Sequence(7));
  EXPECT_FALSE(window.seen("id", at(limits::kDuplicateWindow)));
  window.remember("id", Sequence(7), at(limits::kDuplicateWindow));
  EXPECT_TRUE(window.seen("id", at(limits::kDuplicateWindow + 1s)));
}

TEST(DuplicateWindow, ForgetsTheOldestWhenThereAreTooMany) {
  DuplicateWindow window;
  auto short_or_long = [](size_t i) {
    return (i % 2 ? std::string(40, 'x') : std::string()) + std::to_string(i);
  };
  const size_t extra = limits::kDuplicateIdsMax + limits::kDuplicateIdsMax / 2;
  for (size_t i = 0; i < extra; ++i) window.remember(short_or_long(i), Sequence(i), at(0s));
  EXPECT_EQ(window.size(), limits::kDuplicateIdsMax);
  for (size_t i = 0; i < extra; ++i) {
    auto seen = window.seen(short_or_long(i), at(0s));
    ASSERT_EQ(seen.has_value(), i >= extra - limits::kDuplicateIdsMax) << i;
    if (seen) ASSERT_EQ(*seen, Sequence(i));
  }
}

}  // namespace
}  // namespace fairlead::bus
