// What clients from outside need of the bus: replies, headers, echoes, and the place of a message.
#include <gtest/gtest.h>

#include "bus/local/local_bus_fixture.h"
#include "store/memory/memory_store.h"

namespace fairlead::bus {
namespace {

using Strings = std::vector<std::string>;

class OpenBusTest : public LocalBusFixture<store::MemoryStore> {
 protected:
  Published send_now(Message message) {
    Sent sent = bus->send(std::move(message));
    loop.run_ready();
    EXPECT_TRUE(sent.published.await_ready());
    return *sent.published.await_resume();
  }
};

TEST_F(OpenBusTest, CarriesReplyAndHeadersToEveryTaker) {
  Subscriber first, second;
  auto a = subscribe("a.b", "", first);
  auto b = subscribe("a.*", "q", second);
  auto extras = std::make_shared<Extras>("_INBOX.1", "NATS/1.0\r\nk: v\r\n\r\n");
  EXPECT_EQ(send_now({.subject = "a.b", .payload = "x", .extras = extras}), Published::kStored);
  for (const Subscriber* subscriber : {&first, &second}) {
    ASSERT_EQ(subscriber->got.size(), 1u);
    EXPECT_EQ(subscriber->got[0].extras, extras);
  }
  publish_now("a.b", "plain");
  EXPECT_EQ(first.got[1].extras, nullptr);
}

TEST_F(OpenBusTest, DoesNotEchoToTheDeaf) {
  Subscriber deaf, other;
  auto a = subscribe("a.b", "", deaf, {.deaf_to = 7});
  EXPECT_EQ(send_now({.subject = "a.b", .payload = "nobody", .origin = 7}), Published::kRefused);
  auto b = subscribe("a.b", "", other, {.deaf_to = 8});
  EXPECT_EQ(send_now({.subject = "a.b", .payload = "1", .origin = 7}), Published::kStored);
  EXPECT_EQ(send_now({.subject = "a.b", .payload = "2"}), Published::kStored);
  EXPECT_EQ(deaf.payloads(), Strings{"2"});
  EXPECT_EQ(other.payloads(), (Strings{"1", "2"}));
}

TEST_F(OpenBusTest, GivesAMessageToAMemberOfTheQueueThatIsNotDeafToIt) {
  Subscriber deaf, other;
  auto a = subscribe("a.b", "q", deaf, {.deaf_to = 7});
  auto b = subscribe("a.b", "q", other);
  for (int i = 0; i < 4; ++i) send_now({.subject = "a.b", .payload = "x", .origin = 7});
  EXPECT_EQ(deaf.got.size(), 0u);
  EXPECT_EQ(other.got.size(), 4u);
}

TEST_F(OpenBusTest, LooksForTheQueueUnderItsOtherPatternsWhenOneIsDeaf) {
  Subscriber deaf, other;
  auto a = subscribe("a.b", "q", deaf, {.deaf_to = 7});
  auto b = subscribe("a.>", "q", other);
  EXPECT_EQ(send_now({.subject = "a.b", .payload = "x", .origin = 7}), Published::kStored);
  EXPECT_EQ(other.payloads(), Strings{"x"});
}

TEST_F(OpenBusTest, DropsWhatOnlyTheDeafAreLeftFor) {
  Subscriber deaf, other;
  other.hold = true;
  auto a = subscribe("a.b", "q", deaf, {.deaf_to = 7});
  auto b = subscribe("a.b", "q", other, {.in_flight_max = 1});
  send_now({.subject = "a.b", .payload = "running", .origin = 7});
  send_now({.subject = "a.b", .payload = "waiting", .origin = 7});
  b.reset();
  publish_now("a.b", "after it");
  EXPECT_EQ(deaf.payloads(), Strings{"after it"});
}

TEST_F(OpenBusTest, TellsThePlaceOfAMessageAndOfTheOneItRepeats) {
  Subscriber scheduler;
  auto subscription = subscribe(kSubmitSubject, kSchedulerQueue, scheduler);
  const Message message{.subject = std::string(kSubmitSubject), .payload = "x", .id = "once"};
  Sent first = bus->send(message);
  loop.run_ready();
  ASSERT_EQ(scheduler.got.size(), 1u);
  EXPECT_EQ(first.sequence, scheduler.got[0].sequence);
  EXPECT_FALSE(first.duplicate);

  Sent again = bus->send(message);
  EXPECT_EQ(again.sequence, first.sequence);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(*again.published.await_resume(), Published::kStored);
}

TEST_F(OpenBusTest, LetsAGroupOverhearWhatAnotherOfItsNameConsumes) {
  Subscriber scheduler, guest;
  auto a = subscribe(kSubmitSubject, kSchedulerQueue, scheduler);
  auto b = subscribe(kSubmitSubject, kSchedulerQueue, guest, {.consumes = false});
  guest.verdicts = {Verdict::nak(1s, "makes no difference")};
  for (const char* job : {"1", "2", "3"})
    expect_told(publish_now(kSubmitSubject, job), Published::kStored);
  loop.run_for(1min);
  EXPECT_EQ(scheduler.payloads(), (Strings{"1", "2", "3"}));
  EXPECT_EQ(guest.payloads(), (Strings{"1", "2", "3"}));
  EXPECT_EQ(bus->counters().queued, 0u);
}

}  // namespace
}  // namespace fairlead::bus
