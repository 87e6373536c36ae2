#include "bus/nats/inbox.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "runtime/simulated_loop.h"

namespace fairlead::bus::nats {
namespace {

class InboxTest : public testing::Test {
 protected:
  void put(std::string payload, Link::Care care) {
    inbox->put_arrival({.payload = std::move(payload)}, care);
  }

  SimulatedLoop loop;
  std::vector<Event> taken;
  std::shared_ptr<Inbox> inbox =
      std::make_shared<Inbox>(loop, [this](Event event) { taken.push_back(std::move(event)); });
};

TEST_F(InboxTest, WakesTheLoopOnceHoweverMuchIsPutIn) {
  const uint64_t before = loop.steps();
  for (int i = 0; i < 1000; ++i) put("x", Link::Care::kMayDrop);
  inbox->put(Lost{"why"});
  loop.run_ready();
  EXPECT_EQ(loop.steps(), before + 1);
  ASSERT_EQ(taken.size(), 1001u);
  EXPECT_EQ(std::get<Lost>(taken.back()).why, "why");
}

TEST_F(InboxTest, DropsWhatMayBeDroppedWhenTheLoopDoesNotKeepUp) {
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) put("x", Link::Care::kMayDrop);
  EXPECT_EQ(inbox->dropped(), 0u);
  put("dropped", Link::Care::kMayDrop);
  put("kept", Link::Care::kKeepAll);
  EXPECT_EQ(inbox->dropped(), 1u);
  loop.run_ready();
  EXPECT_EQ(taken.size(), limits::kSubscriptionQueueMax + 1);
  EXPECT_EQ(std::get<Arrival>(taken.back()).payload, "kept");
  put("room again", Link::Care::kMayDrop);
  loop.run_ready();
  EXPECT_EQ(std::get<Arrival>(taken.back()).payload, "room again");
}

TEST_F(InboxTest, DropsWhatMayBeDroppedWhenTooManyBytesWait) {
  const std::string payload(limits::kPacketBytesMax, 'x');
  for (size_t bytes = 0; bytes < limits::kGroupBytesMax; bytes += payload.size()) {
    put(payload, Link::Care::kMayDrop);
  }
  EXPECT_EQ(inbox->dropped(), 0u);
  put("x", Link::Care::kMayDrop);
  EXPECT_EQ(inbox->dropped(), 1u);
}

TEST_F(InboxTest, TakesNothingOnceItIsClosed) {
  put("before", Link::Care::kKeepAll);
  inbox->close();
  put("after", Link::Care::kKeepAll);
  loop.run_ready();
  EXPECT_TRUE(taken.empty());
}

TEST(Inbox, MayBeClosedByWhomItGivesTo) {
  SimulatedLoop loop;
  std::shared_ptr<Inbox> inbox;
  int taken = 0;
  inbox = std::make_shared<Inbox>(loop, [&](Event) {
    ++taken;
    inbox->close();
    inbox.reset();
  });
  for (int i = 0; i < 3; ++i) inbox->put(Lost{});
  loop.run_ready();
  EXPECT_EQ(taken, 1);
}

}  // namespace
}  // namespace fairlead::bus::nats
