#include "cli/verb.h"

#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

const Dialect kDialects[]{{"fairlead", false}, {"cordumctl", true}};

TEST(Verbs, EachHasHelpWithExamplesOfItself) {
  for (const Dialect& dialect : kDialects) {
    std::set<std::string_view> names;
    for (const Verb& verb : verbs_of(dialect)) {
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
  for (const Dialect& dialect : kDialects) {
    const std::string path = testing::TempDir() + dialect.program + "-completion";
    std::ofstream(path) << bash_completion(dialect);
    auto completed = [&](const std::string& words, int at) {
      const std::string script = "source " + path + "; COMP_WORDS=(" + dialect.program + " " +
                                 words + "); COMP_CWORD=" + std::to_string(at) + "; _" +
                                 dialect.program + "; echo \"${COMPREPLY[*]}\"";
      std::ofstream(path + ".sh") << script;
      std::string out(4096, '\0');
      FILE* pipe = ::popen(("bash " + path + ".sh").c_str(), "r");
      out.resize(std::fread(out.data(), 1, out.size(), pipe));
      ::pclose(pipe);
      return out;
    };
    EXPECT_EQ(completed("job sub", 2), "submit\n");
    EXPECT_EQ(completed("stat", 1), "status\n");
    EXPECT_NE(completed("job submit --prom", 3).find("--prompt"), std::string::npos);
    EXPECT_NE(completed("status --api", 2).find("--api-key"), std::string::npos);
    for (const Verb& verb : verbs_of(dialect)) {
      const std::string first(verb.name.substr(0, verb.name.find(' ')));
      EXPECT_NE(completed(first, 1).find(first), std::string::npos) << verb.name;
    }
  }
}

}  // namespace
}  // namespace fairlead::cli
