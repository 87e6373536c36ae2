#include "base/check.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Check, LetsWhatHoldsPass) {
  check(true, "one is one");
}

TEST(CheckDeathTest, StopsTheProcessWithTheRuleAndThePlace) {
  EXPECT_DEATH(check(false, "slots are never negative"),
               "broken invariant: slots are never negative .*check_test\\.cc:");
}

}  // namespace
}  // namespace fairlead
