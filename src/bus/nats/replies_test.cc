#include "bus/nats/replies.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "runtime/simulated_loop.h"

namespace fairlead::bus::nats {
namespace {

class RepliesTest : public testing::Test {
 protected:
  std::string expect(const std::string& name) {
    return replies->expect([this, name](Reply reply) {
      const char* kinds[] = {"answer", "no responders", "none"};
      told.push_back(name + ": " + kinds[static_cast<int>(reply.kind)] + reply.message.payload);
    });
  }
  void arrives(const std::string& subject, const std::string& payload, bool no_responders = false) {
    replies->arrived({.subject = subject, .payload = payload, .no_responders = no_responders});
  }

  SimulatedLoop loop;
  std::optional<Replies> replies{std::in_place, loop, "_INBOX.x."};
  std::vector<std::string> told;
};

using Told = std::vector<std::string>;

TEST_F(RepliesTest, GiveEachAnswerToItsQuestion) {
  const std::string first = expect("first");
  const std::string second = expect("second");
  EXPECT_NE(first, second);
  arrives(second, " 2");
  arrives(first, "", true);
  arrives(first, "again");
  arrives("_INBOX.x.99", "of nobody");
  arrives("_INBOX.x.", "of nobody");
  EXPECT_EQ(told, (Told{"second: answer 2", "first: no responders"}));
  EXPECT_EQ(replies->waiting(), 0u);
}

TEST_F(RepliesTest, GiveUpAfterAWhile) {
  expect("first");
  loop.run_for(1s);
  const std::string second = expect("second");
  loop.run_for(limits::kNatsAnswerWait - 1s - 1us);
  EXPECT_TRUE(told.empty());
  loop.run_for(1us);
  EXPECT_EQ(told, Told{"first: none"});
  arrives(second, "");
  loop.run_for(1min);
  EXPECT_EQ(told, (Told{"first: none", "second: answer"}));
}

TEST_F(RepliesTest, TellEverybodyInOrderWhenTheConnectionIsLost) {
  const std::string forgotten = expect("forgotten");
  for (int i = 0; i < 20; ++i) expect(std::to_string(i));
  replies->forget(forgotten);
  replies->lost();
  ASSERT_EQ(told.size(), 20u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(told[static_cast<size_t>(i)], std::to_string(i) + ": none");
  loop.run_for(1min);
  EXPECT_EQ(told.size(), 20u);
}

TEST_F(RepliesTest, MayBeEndedByWhomTheyAnswer) {
  for (int i = 0; i < 3; ++i) replies->expect([this](Reply) { replies.reset(); });
  replies->lost();
  EXPECT_FALSE(replies);
  replies.emplace(loop, "_INBOX.x.");
  for (int i = 0; i < 3; ++i) replies->expect([this](Reply) { replies.reset(); });
  loop.run_for(1min);
  EXPECT_FALSE(replies);
}

}  // namespace
}  // namespace fairlead::bus::nats
