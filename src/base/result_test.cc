#include "base/result.h"

#include <set>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::kInvalid, "odd");
  return number / 2;
}

TEST(Result, IsAValueOrAnError) {
  EXPECT_EQ(half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), (Error{ErrorCode::kInvalid, "odd"}));
}

TEST(Error, DescribesItselfWithTheNameOfItsCode) {
  EXPECT_EQ((Error{ErrorCode::kUnavailable, "disk is slow"}).describe(),
            "unavailable: disk is slow");
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (ErrorCode code :
       {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kUnavailable, ErrorCode::kUnknown,
        ErrorCode::kFull, ErrorCode::kCorrupt, ErrorCode::kCancelled}) {
    names.insert(to_string(code));
  }
  EXPECT_EQ(names.size(), 7u);
}

}  // namespace
}  // namespace fairlead
