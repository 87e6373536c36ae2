#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

const Dialect kOurs{"fairlead", false};
const Dialect kTheirs{"cordumctl", true};

Result<CommandLine> parse(const Dialect& dialect, std::vector<std::string_view> words) {
  return parse_command_line(dialect, words);
}

TEST(CommandLine, FlagsStandAnywhere) {
  for (std::vector<std::string_view> words :
       {std::vector<std::string_view>{"job", "submit", "hi", "--topic", "job.a", "-o", "json"},
        {"--topic=job.a", "job", "submit", "--output", "json", "hi"},
        {"job", "--topic", "job.a", "submit", "-o=json", "--", "hi"}}) {
    auto line = parse(kOurs, words);
    ASSERT_TRUE(line.has_value()) << line.error().message;
    EXPECT_EQ(line->verb->name, "job submit");
    EXPECT_EQ(line->words, std::vector<std::string>{"hi"});
    EXPECT_EQ(line->flags.at("topic").back(), "job.a");
    EXPECT_EQ(line->flags.at("output").back(), "json");
  }
}

TEST(CommandLine, OneDashIsEnoughForCordumctl) {
  auto line = parse(kTheirs, {"job", "status", "-json", "1"});
  ASSERT_TRUE(line.has_value()) << line.error().message;
  EXPECT_TRUE(line->flags.contains("json"));
  EXPECT_EQ(line->words, std::vector<std::string>{"1"});
  EXPECT_EQ(parse(kTheirs, {"pool", "topic", "add", "p", "t"})->verb->name, "pool topic add");
}

TEST(CommandLine, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(parse(kOurs, {"jump"}).error().message, "there is no verb 'jump'; see fairlead --help");
  EXPECT_EQ(parse(kOurs, {"dlq"}).error().message, "dlq what? list, show, retry, delete");
  EXPECT_EQ(parse(kOurs, {"dlq", "eat"}).error().message,
            "there is no verb 'dlq eat'; dlq: list, show, retry, delete");
  EXPECT_EQ(parse(kOurs, {"job", "wait"}).error().message, "usage: fairlead job wait ID");
  EXPECT_EQ(parse(kOurs, {"job", "wait", "1", "--topic", "x"}).error().message,
            "job wait has no flag --topic; see fairlead job wait --help");
  EXPECT_EQ(parse(kOurs, {"status", "--sped"}).error().message, "there is no flag --sped");
  EXPECT_EQ(parse(kOurs, {"status", "--server"}).error().message, "--server needs a value: URL");
}

TEST(CommandLine, HelpIsAskedForInEveryWay) {
  for (std::vector<std::string_view> words :
       {std::vector<std::string_view>{}, {"help"}, {"--help"}, {"-h"}}) {
    auto line = parse(kOurs, words);
    ASSERT_TRUE(line.has_value());
    EXPECT_TRUE(line->help);
    EXPECT_EQ(line->verb, nullptr);
  }
  auto line = parse(kOurs, {"job", "wait", "--help"});
  EXPECT_TRUE(line->help);
  EXPECT_EQ(line->verb->name, "job wait");
}

}  // namespace
}  // namespace fairlead::cli
