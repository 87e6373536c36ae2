#include "job/pointer.h"

#include <gtest/gtest.h>

namespace fairlead::job {
namespace {

TEST(Pointer, IsASchemeAndAKey) {
  EXPECT_EQ(key_of_pointer("redis://ctx:j1"), "ctx:j1");
  EXPECT_EQ(pointer_to("ctx:j1"), "redis://ctx:j1");
}

TEST(Pointer, MayBeTheBareKey) {
  EXPECT_EQ(key_of_pointer("ctx:j1"), "ctx:j1");
}

TEST(Pointer, ToElsewhereHasNoKey) {
  EXPECT_EQ(key_of_pointer("s3://bucket/x"), "");
  EXPECT_EQ(key_of_pointer(""), "");
}

}  // namespace
}  // namespace fairlead::job
