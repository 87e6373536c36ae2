#include "base/ids.h"

#include <concepts>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Name, OfOneKindIsNotAnother) {
  static_assert(!std::is_convertible_v<JobId, WorkerId>);
  static_assert(!std::is_constructible_v<WorkerId, JobId>);
  static_assert(!std::equality_comparable_with<JobId, WorkerId>);
  static_assert(!std::is_convertible_v<std::string, JobId>, "a name is made on purpose");
}

TEST(Name, ComparesByItsText) {
  EXPECT_EQ(JobId("a"), JobId(std::string("a")));
  EXPECT_NE(JobId("a"), JobId("b"));
  EXPECT_LT(JobId("a"), JobId("b"));
  EXPECT_TRUE(JobId().empty());
  EXPECT_EQ(JobId(std::string_view("a")).str(), "a");
}

TEST(Name, CanBeAKeyOfAHashContainer) {
  std::unordered_set<JobId> ids = {JobId("a"), JobId("b"), JobId("a")};
  EXPECT_EQ(ids.size(), 2u);
}

TEST(Number, OfOneKindIsNotAnother) {
  static_assert(!std::equality_comparable_with<Epoch, Revision>);
  static_assert(!std::is_constructible_v<Epoch, Revision>);
  static_assert(!std::is_convertible_v<uint64_t, Epoch>, "a number is made on purpose");
}

TEST(Number, BeginsAtZeroAndGrowsByOne) {
  EXPECT_EQ(Epoch().value(), 0u);
  EXPECT_EQ(Epoch().next(), Epoch(1));
  EXPECT_LT(Epoch(1), Epoch(2));
}

}  // namespace
}  // namespace fairlead
