#include "cli/verb.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

// A verb that the program has itself.
const Verb kOwn{"up", "", "Start a server.", {{"listen-api", "HOST:PORT", ""}}, "up", nullptr};

// Made when they are asked for: their tables are made before main, in no certain order.
const std::vector<Dialect>& dialects() {
  static const std::vector<Dialect> made{dialect_of("fairlead", {}, {kOwn}),
                                         dialect_of("cordumctl")};
  return made;
}

// What bash offers for the word number `at`.
std::string completed_by(const Dialect& dialect, const std::string& words, int at) {
  const std::string path = testing::TempDir() + dialect.program + "-completion";
  std::ofstream(path) << bash_completion(dialect);
  std::ofstream(path + ".sh") << "source " + path + "; COMP_WORDS=(" + dialect.program + " " +
                                     words + "); COMP_CWORD=" + std::to_string(at) + "; _" +
                                     dialect.program + "; echo \"${COMPREPLY[*]}\"";
  std::string out(4096, '\0');
  FILE* pipe = ::popen(("bash " + path + ".sh").c_str(), "r");
  out.resize(std::fread(out.data(), 1, out.size(), pipe));
  ::pclose(pipe);
  return out;
}

TEST(Verbs, EachHasHelpWithExamplesOfItself) {
  for (const Dialect& dialect : dialects()) {
    std::set<std::string_view> names;
    for (const Verb& verb : dialect.verbs) {
      EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
      EXPECT_FALSE(verb.help.empty()) << verb.name;
      EXPECT_TRUE(verb.examples.starts_with(verb.name)) << verb.name;
      const std::string help = help_of(dialect, verb);
      EXPECT_NE(help.find("examples:\n  " + dialect.program), help.npos) << verb.name;
      for (const Flag& flag : verb.flags) {
        EXPECT_NE(help.find("--" + std::string(flag.name)), help.npos) << flag.name;
      }
      EXPECT_NE(help_of(dialect).find(verb.name), std::string::npos);
    }
  }
}

TEST(Verbs, CompletionIsAScriptThatBashTakesAndThatKnowsEveryVerb) {
  for (const Dialect& dialect : dialects()) {
    auto completed = [&](const std::string& words, int at) {
      return completed_by(dialect, words, at);
    };
    EXPECT_EQ(completed("job sub", 2), "submit\n");
    EXPECT_EQ(completed("stat", 1), "status\n");
    EXPECT_NE(completed("job submit --prom", 3).find("--prompt"), std::string::npos);
    EXPECT_NE(completed("status --api", 2).find("--api-key"), std::string::npos);
    EXPECT_EQ(completed("job submit --topic x --prompt", 5), "--prompt\n");
    for (const Verb& verb : dialect.verbs) {
      const std::string first(verb.name.substr(0, verb.name.find(' ')));
      EXPECT_NE(completed(first, 1).find(first), std::string::npos) << verb.name;
    }
  }
}

TEST(Verbs, CompletionKnowsVerbsOfThreeWordsAndFlagsOfVerbsOfOne) {
  EXPECT_EQ(completed_by(dialects()[1], "pool topic ''", 3), "add remove\n");
  EXPECT_EQ(completed_by(dialects()[1], "pool top", 2), "topic topic\n");
  EXPECT_EQ(completed_by(dialects()[1], "worker credential create --allowed-p", 4),
            "--allowed-pools\n");
  EXPECT_EQ(completed_by(dialects()[0], "up --", 2), "--listen-api --help\n")
      << "what talks to no server has no flags for that";
}

TEST(Verbs, OfAGroupAreShownTogether) {
  const std::string help = help_of(dialects()[0], "dlq");
  EXPECT_NE(help.find("dlq retry"), help.npos);
  EXPECT_EQ(help.find("job submit"), help.npos);
}

}  // namespace
}  // namespace fairlead::cli
