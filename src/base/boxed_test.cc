#include "base/boxed.h"

#include <string>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(BoxedTest, CopiesDoNotShareTheirValue) {
  Boxed<std::string> first;
  *first = "one";
  Boxed<std::string> second = first;
  *second = "two";
  EXPECT_EQ(*first, "one");
  first = second;
  second->clear();
  EXPECT_EQ(*first, "two");
}

TEST(BoxedTest, MovesAndSealsWithoutACopy) {
  Boxed<std::string> first;
  const std::string* place = &*first;
  Boxed<std::string> second = std::move(first);
  EXPECT_EQ(&*second, place);
  EXPECT_EQ(std::move(second).seal().get(), place);
}

}  // namespace
}  // namespace fairlead
