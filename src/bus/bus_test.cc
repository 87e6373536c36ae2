#include "bus/bus.h"

#include <gtest/gtest.h>

namespace fairlead::bus {
namespace {

TEST(Durable, IsExactlyTheFourSubjectsThatCarryWork) {
  EXPECT_TRUE(is_durable("sys.job.submit"));
  EXPECT_TRUE(is_durable("sys.job.result"));
  EXPECT_TRUE(is_durable("sys.job.cancel"));
  EXPECT_TRUE(is_durable("sys.job.dlq"));

  EXPECT_FALSE(is_durable("sys.job.progress"));
  EXPECT_FALSE(is_durable("sys.heartbeat"));
  EXPECT_FALSE(is_durable("worker.w1.jobs"));
  EXPECT_FALSE(is_durable("sys.job.>"));
  EXPECT_FALSE(is_durable("sys.job.submit.x"));
}

TEST(Subject, IsPrintableTokensBetweenSingleDots) {
  EXPECT_TRUE(validate_subject("sys.job.submit"));
  EXPECT_TRUE(validate_subject("worker.wörker-1.jobs"));
  EXPECT_TRUE(validate_subject("_INBOX.a$b"));

  for (const char* wrong : {"", ".", ".a", "a.", "a..b", "a b", "a\tb", "a\r\nPUB b", "a\x7f"}) {
    EXPECT_EQ(validate_subject(wrong).error().code, ErrorCode::kInvalid) << wrong;
  }
  EXPECT_FALSE(validate_subject(std::string_view("a\0b", 3)));
}

TEST(Subject, HasNoWildcards) {
  for (const char* wrong : {"*", ">", "a.*", "a.>", "a*", "a.b>c"}) {
    EXPECT_FALSE(validate_subject(wrong)) << wrong;
  }
}

TEST(Subject, IsNoLongerThanItsLimit) {
  EXPECT_TRUE(validate_subject(std::string(limits::kSubjectBytesMax, 'a')));
  EXPECT_FALSE(validate_subject(std::string(limits::kSubjectBytesMax + 1, 'a')));
}

TEST(Pattern, HasStarsAloneAndTheRestLast) {
  for (const char* right : {"a.b", "*", ">", "a.*", "*.b", "a.*.c", "a.>", "*.>"}) {
    EXPECT_TRUE(validate_pattern(right)) << right;
  }
  for (const char* wrong : {"", "a.", "a.b*", "a.**", ">.a", "a.>.b", "a.b>", "a. .b"}) {
    EXPECT_FALSE(validate_pattern(wrong)) << wrong;
  }
}

TEST(Matches, WithoutWildcardsOnlyTheSameSubject) {
  EXPECT_TRUE(matches("a.b", "a.b"));
  EXPECT_FALSE(matches("a.b", "a.bc"));
  EXPECT_FALSE(matches("a.b", "a"));
  EXPECT_FALSE(matches("a.b", "a.b.c"));
}

TEST(Matches, StarForExactlyOneToken) {
  EXPECT_TRUE(matches("worker.*.jobs", "worker.w1.jobs"));
  EXPECT_TRUE(matches("*", "a"));
  EXPECT_FALSE(matches("*", "a.b"));
  EXPECT_FALSE(matches("a.*", "a"));
  EXPECT_FALSE(matches("worker.*.jobs", "worker.a.b.jobs"));
}

TEST(Matches, RestForOneOrMoreTokens) {
  EXPECT_TRUE(matches("sys.>", "sys.job"));
  EXPECT_TRUE(matches("sys.>", "sys.job.submit"));
  EXPECT_TRUE(matches(">", "a"));
  EXPECT_TRUE(matches("*.>", "a.b"));
  EXPECT_FALSE(matches("sys.>", "sys"));
  EXPECT_FALSE(matches("*.>", "a"));
  EXPECT_FALSE(matches("sys.>", "system.job"));
}

}  // namespace
}  // namespace fairlead::bus
