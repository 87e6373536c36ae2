#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

// Made when they are asked for: their tables are made before main, in no certain order.
const Dialect& ours() {
  static const Dialect made = dialect_of("fairlead");
  return made;
}
const Dialect& theirs() {
  static const Dialect made = dialect_of("cordumctl");
  return made;
}

Result<CommandLine> parse(const Dialect& dialect, std::vector<std::string_view> words) {
  return parse_command_line(dialect, words);
}

TEST(CommandLine, FlagsStandAnywhere) {
  for (std::vector<std::string_view> words :
       {std::vector<std::string_view>{"job", "submit", "hi", "--topic", "job.a", "-o", "json"},
        {"--topic=job.a", "job", "submit", "--output", "json", "hi"},
        {"job", "--topic", "job.a", "submit", "-o=json", "--", "hi"}}) {
    auto line = parse(ours(), words);
    ASSERT_TRUE(line.has_value()) << line.error().message;
    EXPECT_EQ(line->verb->name, "job submit");
    EXPECT_EQ(line->words, std::vector<std::string>{"hi"});
    EXPECT_EQ(line->flags.at("topic").back(), "job.a");
    EXPECT_EQ(line->flags.at("output").back(), "json");
  }
}

TEST(CommandLine, OneDashIsEnoughForCordumctl) {
  auto line = parse(theirs(), {"job", "status", "-json", "1"});
  ASSERT_TRUE(line.has_value()) << line.error().message;
  EXPECT_TRUE(line->flags.contains("json"));
  EXPECT_EQ(line->words, std::vector<std::string>{"1"});
  EXPECT_EQ(parse(theirs(), {"pool", "topic", "add", "p", "t"})->verb->name, "pool topic add");
}

TEST(CommandLine, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(parse(ours(), {"jump"}).error().message,
            "there is no verb 'jump'; see fairlead --help");
  EXPECT_EQ(parse(ours(), {"dlq"}).error().message, "dlq what? list, show, retry, delete");
  EXPECT_EQ(parse(ours(), {"dlq", "eat"}).error().message,
            "there is no verb 'dlq eat'; dlq: list, show, retry, delete");
  EXPECT_EQ(parse(ours(), {"job", "wait"}).error().message, "usage: fairlead job wait ID");
  EXPECT_EQ(parse(ours(), {"job", "wait", "1", "--topic", "x"}).error().message,
            "job wait has no flag --topic; see fairlead job wait --help");
  EXPECT_EQ(parse(ours(), {"status", "--sped"}).error().message, "there is no flag --sped");
  EXPECT_EQ(parse(ours(), {"status", "--server"}).error().message, "--server needs a value: URL");
}

TEST(CommandLine, HelpIsAskedForInEveryWay) {
  for (std::vector<std::string_view> words :
       {std::vector<std::string_view>{}, {"help"}, {"--help"}, {"-h"}}) {
    auto line = parse(ours(), words);
    ASSERT_TRUE(line.has_value());
    EXPECT_TRUE(line->help);
    EXPECT_EQ(line->verb, nullptr);
  }
  auto line = parse(ours(), {"job", "wait", "--help"});
  EXPECT_TRUE(line->help);
  EXPECT_EQ(line->verb->name, "job wait");
  for (std::vector<std::string_view> words :
       {std::vector<std::string_view>{"job", "--help"}, {"help", "job"}, {"-h", "job"}}) {
    auto group = parse(ours(), words);
    ASSERT_TRUE(group.has_value());
    EXPECT_TRUE(group->help);
    EXPECT_EQ(group->group, "job");
  }
}

}  // namespace
}  // namespace fairlead::cli
