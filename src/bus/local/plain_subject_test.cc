#include "base/limits.h"
#include "bus/local/local_bus_fixture.h"
#include "store/memory/memory_store.h"

namespace fairlead::bus {
namespace {

using testing::Test;
using Strings = std::vector<std::string>;

class PlainSubject : public LocalBusFixture<store::MemoryStore> {};

TEST_F(PlainSubject, ReachesEverySubscriptionWithoutQueue) {
  Subscriber first, second;
  auto a = subscribe("sys.heartbeat", "", first);
  auto b = subscribe("sys.*", "", second);

  expect_told(publish_now("sys.heartbeat", "beat"), Published::kStored);

  EXPECT_EQ(first.payloads(), Strings{"beat"});
  EXPECT_EQ(second.payloads(), Strings{"beat"});
}

TEST_F(PlainSubject, ReachesOneMemberOfEachQueueGroupInTurn) {
  Subscriber first, second, other;
  auto a = subscribe("job.render", "pool", first);
  auto b = subscribe("job.render", "pool", second);
  auto c = subscribe("job.render", "audit", other);

  for (const char* payload : {"1", "2", "3", "4"}) publish("job.render", payload);
  loop.run_ready();

  EXPECT_EQ(first.payloads(), (Strings{"1", "3"}));
  EXPECT_EQ(second.payloads(), (Strings{"2", "4"}));
  EXPECT_EQ(other.payloads(), (Strings{"1", "2", "3", "4"}));
}

TEST_F(PlainSubject, ReachesAQueueOnceThoughTwoOfItsPatternsMatch) {
  Subscriber exact, wide;
  auto a = subscribe("job.render", "pool", exact);
  auto b = subscribe("job.>", "pool", wide);
  publish_now("job.render", "1");
  EXPECT_EQ(exact.got.size() + wide.got.size(), 1u);
}

TEST_F(PlainSubject, IsRefusedWhenNobodyListens) {
  expect_told(publish_now("worker.w1.jobs", "x"), Published::kRefused);
  EXPECT_EQ(bus->counters().refused, 1u);
}

TEST_F(PlainSubject, IsRefusedOnceItsListenerHasGone) {
  Subscriber worker;
  auto subscription = subscribe("worker.w1.jobs", "", worker);
  subscription.reset();
  expect_told(publish_now("worker.w1.jobs", "x"), Published::kRefused);
  EXPECT_TRUE(worker.got.empty());
}

TEST_F(PlainSubject, IsRefusedWhenEveryTakersQueueIsFull) {
  Subscriber slow;
  slow.hold = true;
  auto subscription = subscribe("a.b", "", slow, {.in_flight_max = 1});
  publish_now("a.b", "running");
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) publish("a.b", "waiting");

  expect_told(publish("a.b", "one too many"), Published::kRefused);
  slow.hold = false;
  slow.answer_all();
  loop.run_ready();
  EXPECT_EQ(slow.got.size(), limits::kSubscriptionQueueMax + 1);
  expect_told(publish_now("a.b", "room again"), Published::kStored);
}

TEST_F(PlainSubject, IsRefusedWhenTooManyBytesWait) {
  Subscriber slow;
  slow.hold = true;
  auto subscription = subscribe("a.b", "", slow, {.in_flight_max = 1});
  const std::string payload(limits::kPacketBytesMax, 'x');
  for (size_t held = 0; held < limits::kGroupBytesMax; held += payload.size()) {
    expect_told(publish("a.b", payload), Published::kStored);
  }
  expect_told(publish("a.b", payload), Published::kRefused);
}

TEST_F(PlainSubject, IsStoredWhenOneOfTwoTakersHasRoom) {
  Subscriber slow, fast;
  slow.hold = true;
  auto a = subscribe("a.b", "", slow, {.in_flight_max = 1});
  publish_now("a.b", "running");
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) publish("a.b", "waiting");
  auto b = subscribe("a.b", "", fast);

  expect_told(publish_now("a.b", "last"), Published::kStored);
  EXPECT_EQ(fast.payloads(), Strings{"last"});
}

TEST_F(PlainSubject, IgnoresTheVerdict) {
  Subscriber listener;
  listener.verdicts = {Verdict::nak(1s, "no")};
  auto subscription = subscribe("a.b", "", listener);
  publish_now("a.b", "1");
  loop.run_for(1min);
  EXPECT_EQ(listener.got.size(), 1u);
  EXPECT_EQ(bus->counters().queued, 0u);
}

TEST_F(PlainSubject, WithAnIdIsStoredWhenAllItsTakersHaveHandledIt) {
  Subscriber worker, overhears;
  worker.hold = true;
  auto a = subscribe("worker.w1.jobs", "", worker);
  auto b = subscribe("worker.>", "", overhears);
  Told told = publish_now("worker.w1.jobs", "job", "id");
  EXPECT_EQ(overhears.ended, 1u);
  EXPECT_FALSE(told->has_value());
  worker.answer_all();
  loop.run_ready();
  expect_told(told, Published::kStored);
}

TEST_F(PlainSubject, WithAnIdIsUnknownWhenATakerSaysAnythingButAck) {
  Subscriber worker;
  worker.verdicts = {Verdict::terminate("the connection ended")};
  auto subscription = subscribe("worker.w1.jobs", "", worker);
  expect_told(publish_now("worker.w1.jobs", "job", "id"), Published::kUnknown);
}

TEST_F(PlainSubject, WithAnIdIsAnsweredByAHandlerWhoseSubscriptionHasEnded) {
  Subscriber worker;
  worker.hold = true;
  auto subscription = subscribe("worker.w1.jobs", "", worker);
  Told told = publish_now("worker.w1.jobs", "job", "id");
  subscription.reset();
  loop.run_ready();
  EXPECT_FALSE(told->has_value());
  worker.answer_all();
  loop.run_ready();
  expect_told(told, Published::kStored);
}

TEST_F(PlainSubject, WithAnIdIsRefusedWhenItsTakerLeavesBeforeItGotIt) {
  Subscriber worker;
  auto subscription = subscribe("worker.w1.jobs", "", worker);
  Told told = publish("worker.w1.jobs", "job", "id");
  subscription.reset();
  loop.run_ready();
  EXPECT_TRUE(worker.got.empty());
  expect_told(told, Published::kRefused);
}

TEST_F(PlainSubject, WithAnIdIsRefusedWhenItsTakerLeavesWhileItHandlesTheOneBefore) {
  std::unique_ptr<Subscription> subscription;
  subscription = *bus->subscribe("worker.w1.jobs", {}, [&](Delivery) -> Task<Verdict> {
    subscription.reset();
    co_return Verdict::ack();
  });
  Told first = publish("worker.w1.jobs", "1", "a");
  Told second = publish("worker.w1.jobs", "2", "b");
  loop.run_ready();
  expect_told(first, Published::kStored);
  expect_told(second, Published::kRefused);
}

TEST_F(PlainSubject, WithAnIdIsNotRemembered) {
  Subscriber worker;
  auto subscription = subscribe("worker.w1.jobs", "", worker);
  publish_now("worker.w1.jobs", "1", "id");
  publish_now("worker.w1.jobs", "2", "id");
  EXPECT_EQ(worker.payloads(), (Strings{"1", "2"}));
}

TEST_F(PlainSubject, OffersWhatWaitsToTheOtherMembersWhenOneLeaves) {
  Subscriber first, second;
  first.hold = true;
  auto a = subscribe("a.b", "q", first, {.in_flight_max = 1});
  publish_now("a.b", "running");
  publish_now("a.b", "waiting");
  auto b = subscribe("a.b", "q", second);
  a.reset();
  loop.run_ready();
  EXPECT_EQ(second.payloads(), Strings{"waiting"});
}

TEST_F(PlainSubject, NeverRunsAHandlerInsidePublish) {
  Subscriber listener;
  auto subscription = subscribe("a.b", "", listener);
  Told told = publish("a.b", "1");
  expect_told(told, Published::kStored);
  EXPECT_TRUE(listener.got.empty());
  loop.run_ready();
  EXPECT_EQ(listener.got.size(), 1u);
}

TEST_F(PlainSubject, MovesManyMessagesInOneTurnOfTheLoop) {
  Subscriber listener;
  auto subscription = subscribe("a.b", "", listener);
  loop.run_ready();
  const uint64_t before = loop.steps();
  for (int i = 0; i < 1000; ++i) publish("a.b", "x");
  loop.run_ready();
  EXPECT_EQ(listener.got.size(), 1000u);
  EXPECT_EQ(loop.steps(), before + 1);
}

TEST_F(PlainSubject, MayBePublishedByAHandlerOfTheSameSubject) {
  int left = 3;
  auto subscription = *bus->subscribe("a.b", {}, [&](Delivery) -> Task<Verdict> {
    if (--left > 0) (void)bus->publish("a.b", "again", {});
    co_return Verdict::ack();
  });
  publish_now("a.b", "first");
  EXPECT_EQ(left, 0);
}

TEST_F(PlainSubject, RunsAsManyHandlersAtOnceAsAllowed) {
  Subscriber slow;
  slow.hold = true;
  auto subscription = subscribe("a.b", "", slow, {.in_flight_max = 2});
  for (const char* payload : {"1", "2", "3"}) publish("a.b", payload);
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"1", "2"}));
  slow.answer_all();
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"1", "2", "3"}));
}

TEST_F(PlainSubject, CarriesSequencesThatGrowAlsoAcrossRestarts) {
  Subscriber before, after;
  auto a = subscribe("a.b", "", before);
  publish_now("a.b", "1");
  publish_now("a.b", "2");
  crash();
  boot();
  auto b = subscribe("a.b", "", after);
  publish_now("a.b", "3");
  EXPECT_LT(before.got[0].sequence, before.got[1].sequence);
  EXPECT_LT(before.got[1].sequence, after.got[0].sequence);
}

TEST_F(PlainSubject, IsNotAcceptedWhenInvalidOrTooLarge) {
  Told wildcard = publish_now("a.*", "x");
  EXPECT_EQ((**wildcard).error().code, ErrorCode::kInvalid);
  Told large = publish_now("a.b", std::string(limits::kPacketBytesMax + 1, 'x'));
  EXPECT_EQ((**large).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(bus->subscribe("a.>.b", {}, {}).error().code, ErrorCode::kInvalid);
}

TEST_F(PlainSubject, CannotTellWhatWasStored) {
  auto answer = bus->stored("a.b", "id");
  ASSERT_TRUE(answer.await_ready());
  EXPECT_EQ(*answer.await_resume(), std::nullopt);
}

// --- Keys ----------------------------------------------------------------------------------------

std::string_view first_letter(std::string_view payload) {
  return payload.substr(0, 1);
}

TEST_F(PlainSubject, HandlesOneMessageOfAKeyAtATimeInOrder) {
  Subscriber slow;
  slow.hold = true;
  auto subscription = subscribe("a.b", "", slow, {.key = first_letter});
  for (const char* payload : {"a1", "a2", "b1", "a3", "b2"}) publish("a.b", payload);
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"a1", "b1"}));

  slow.waiting[0].complete({});
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"a1", "b1", "a2"}));
  slow.waiting[2].complete({});
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"a1", "b1", "a2", "a3"}));
  slow.waiting[1].complete({});
  loop.run_ready();
  EXPECT_EQ(slow.payloads(), (Strings{"a1", "b1", "a2", "a3", "b2"}));
}

TEST_F(PlainSubject, KeepsTheOrderOfAKeyWhenNewMessagesArriveMeanwhile) {
  Subscriber slow;
  slow.hold = true;
  auto subscription = subscribe("a.b", "", slow, {.in_flight_max = 1, .key = first_letter});
  for (const char* payload : {"a1", "b1", "a2"}) publish("a.b", payload);
  loop.run_ready();
  publish_now("a.b", "a3");
  for (int i = 0; i < 4; ++i) {
    slow.answer_all();
    loop.run_ready();
  }
  Strings of_a;
  for (const std::string& payload : slow.payloads()) {
    if (payload[0] == 'a') of_a.push_back(payload);
  }
  EXPECT_EQ(of_a, (Strings{"a1", "a2", "a3"}));
  EXPECT_EQ(slow.got.size(), 4u);
}

TEST_F(PlainSubject, FreesTheKeyOfAMemberThatLeft) {
  Subscriber first, second;
  first.hold = true;
  auto a = subscribe("a.b", "q", first, {.key = first_letter});
  publish_now("a.b", "a1");
  auto b = subscribe("a.b", "q", second, {.key = first_letter});
  publish_now("a.b", "a2");
  EXPECT_TRUE(second.got.empty());
  a.reset();
  loop.run_ready();
  EXPECT_EQ(second.payloads(), Strings{"a2"});
}

}  // namespace
}  // namespace fairlead::bus
