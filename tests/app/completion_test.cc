// What bash offers for the words of the program, its own verbs included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string completed(const std::string& words) {
  const size_t count = static_cast<size_t>(std::ranges::count(words, ' ')) + 1;
  edge::Child shell(
      {"bash", "-c",
       "source <(" + program() + " completion bash); COMP_WORDS=(fairlead " + words +
           "); COMP_CWORD=" + std::to_string(count) + "; _fairlead; echo \"${COMPREPLY[*]}\""},
      {});
  shell.close_input();
  EXPECT_EQ(shell.wait(), 0);
  return shell.output();
}

TEST(Completion, KnowsTheFlagsOfTheProgramsOwnVerbs) {
  EXPECT_EQ(completed("up --listen-w"), "--listen-workers\n");
  EXPECT_EQ(completed("serve --nats-u"), "--nats-url\n");
  EXPECT_EQ(completed("settings --out"), "--output\n");
  EXPECT_EQ(completed("worker --para"), "--parallel\n");
  EXPECT_EQ(completed("worker --pool default --to"), "--token --topic\n");
  EXPECT_EQ(completed("worker l"), "list\n");
  EXPECT_EQ(completed("worker list --po"), "--pool\n");
  EXPECT_EQ(completed("ser"), "serve\n");
  EXPECT_THAT(completed("up --"), Not(HasSubstr("--tenant"))) << "it talks to no server";
}

TEST(Completion, EveryVerbIsInTheHelp) {
  const std::string help = run({"--help"}).output;
  for (const char* verb : {"up", "serve", "settings", "worker --pool", "job submit", "top"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + verb));
  }
  EXPECT_EQ(run({"help", "serve"}).output, run({"serve", "--help"}).output);
}

}  // namespace
}  // namespace fairlead::app
