#include "bus/local/interest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fairlead::bus {
namespace {

using Strings = std::vector<std::string>;

class InterestTest : public testing::Test {
 protected:
  std::shared_ptr<Group> add(const char* pattern, const char* queue = "") {
    auto group = std::make_shared<Group>(pattern, queue);
    interest.add(group);
    return group;
  }
  Strings matched(std::string_view subject) {
    std::vector<std::shared_ptr<Group>> groups;
    interest.match(subject, groups);
    Strings patterns;
    for (const auto& group : groups) patterns.push_back(group->pattern());
    return patterns;
  }
  Interest interest;
};

TEST_F(InterestTest, FindsExactSubjectsAndEveryKindOfPattern) {
  for (const char* pattern : {"a.b.c", ">", "*.b.c", "a.>", "a.*.c", "a.b.*", "a.b.>", "a.b.c.>",
                              "a.b", "b.>", "a.*", "*"}) {
    add(pattern);
  }
  EXPECT_EQ(matched("a.b.c"), (Strings{"a.b.c", ">", "*.b.c", "a.>", "a.*.c", "a.b.*", "a.b.>"}));
  EXPECT_EQ(matched("a.b"), (Strings{"a.b", ">", "a.>", "a.*"}));
  EXPECT_EQ(matched("a"), (Strings{">", "*"}));
}

TEST_F(InterestTest, AgreesWithMatchesOnManySubjects) {
  const Strings tokens = {"a", "b", "ab", "*"};
  Strings patterns = {">"};
  Strings subjects;
  for (const std::string& x : tokens) {
    for (const std::string& y : tokens) {
      for (const std::string& text : {x, x + "." + y, x + "." + y + ".a"}) {
        patterns.push_back(text);
        patterns.push_back(text + ".>");
        if (validate_subject(text)) subjects.push_back(text);
      }
    }
  }
  for (const std::string& pattern : patterns) add(pattern.c_str());
  for (const std::string& subject : subjects) {
    size_t expected = 0;
    for (const std::string& pattern : patterns) expected += matches(pattern, subject);
    EXPECT_EQ(matched(subject).size(), expected) << subject;
  }
}

TEST_F(InterestTest, FindsAGroupByItsPatternAndQueue) {
  auto group = add("a.*", "q");
  add("a.*", "other");
  add("a.>", "q");
  EXPECT_EQ(interest.find("a.*", "q"), group);
  EXPECT_EQ(interest.find("a.b", "q"), nullptr);
}

TEST_F(InterestTest, ForgetsARemovedGroupAlsoTwice) {
  auto exact = add("a.b");
  auto wide = add("a.*");
  interest.remove(exact);
  EXPECT_EQ(matched("a.b"), Strings{"a.*"});
  interest.remove(wide);
  interest.remove(wide);
  EXPECT_EQ(matched("a.b"), Strings{});
}

}  // namespace
}  // namespace fairlead::bus
