// The contract of bus.h, for every bus: include it and instantiate BusContract.
#pragma once

#include <map>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

#include "bus/contract/bus_world.h"

namespace fairlead::bus {

using testing::UnorderedElementsAre;

inline std::string_view first_letter(std::string_view payload) {
  return payload.substr(0, 1);
}

// --- Plain subjects ------------------------------------------------------------------------------

TEST_P(BusContract, APlainMessageReachesEverySubscriptionWithoutQueue) {
  Listener exact, wide, other;
  auto a = subscribe("x.beat", "", exact);
  auto b = subscribe("x.*", "", wide);
  auto c = subscribe("y.>", "", other);
  EXPECT_EQ(publish_now("x.beat", "beat"), Published::kStored);
  EXPECT_TRUE(got(exact, 1) && got(wide, 1));
  EXPECT_EQ(exact.got[0].subject, "x.beat");
  EXPECT_EQ(exact.payloads(), Strings{"beat"});
  EXPECT_EQ(wide.payloads(), Strings{"beat"});
  EXPECT_TRUE(other.got.empty());
}

TEST_P(BusContract, APlainMessageReachesOneMemberOfEachQueueGroup) {
  Listener first, second, other;
  auto a = subscribe("x.work", "pool", first);
  auto b = subscribe("x.work", "pool", second);
  auto c = subscribe("x.work", "audit", other);
  for (const char* payload : {"1", "2", "3", "4"}) publish_now("x.work", payload);
  EXPECT_TRUE(got(other, 4));
  EXPECT_TRUE(world->run_until([&] { return first.got.size() + second.got.size() == 4; }));
  world->settle();
  Strings shared = first.payloads();
  for (const std::string& payload : second.payloads()) shared.push_back(payload);
  EXPECT_THAT(shared, UnorderedElementsAre("1", "2", "3", "4"));
  EXPECT_EQ(other.payloads(), (Strings{"1", "2", "3", "4"}));
}

TEST_P(BusContract, SaysSinceWhenItListens) {
  ASSERT_TRUE(world->bus().listening_since());
  EXPECT_LE(*world->bus().listening_since(), world->now());
  const auto since = world->bus().listening_since();
  world->run_for(10ms);
  EXPECT_EQ(world->bus().listening_since(), since);
}

TEST_P(BusContract, APlainMessageIsRefusedWhenNobodyListens) {
  EXPECT_EQ(publish_now("x.nobody", "x"), Published::kRefused);
}

TEST_P(BusContract, ADeadLetterIsTakenThoughNobodyListens) {
  EXPECT_EQ(publish_now(kDeadLetterSubject, "letter"), Published::kStored);
}

TEST_P(BusContract, APlainMessageIsRefusedOnceItsListenerHasGone) {
  Listener listener;
  auto subscription = subscribe("x.a", "", listener);
  EXPECT_EQ(publish_now("x.a", "1"), Published::kStored);
  EXPECT_TRUE(got(listener, 1));
  subscription.reset();
  world->settle();
  EXPECT_EQ(publish_now("x.a", "2"), Published::kRefused);
  EXPECT_EQ(listener.payloads(), Strings{"1"});
}

TEST_P(BusContract, APlainMessageComesOnceWhateverTheVerdict) {
  Listener listener;
  listener.verdicts = {Verdict::nak(10ms, "no")};
  auto subscription = subscribe("x.a", "", listener);
  publish_now("x.a", "1");
  EXPECT_TRUE(got(listener, 1));
  world->run_for(100ms);
  EXPECT_EQ(listener.got.size(), 1u);
}

TEST_P(BusContract, NoHandlerRunsInsidePublish) {
  Listener listener;
  auto subscription = subscribe("x.a", "", listener);
  Told told = publish("x.a", "1");
  EXPECT_TRUE(listener.got.empty());
  EXPECT_EQ(outcome(told), Published::kStored);
  EXPECT_TRUE(got(listener, 1));
}

TEST_P(BusContract, SequencesOfASubjectGrow) {
  Listener plain, durable;
  auto a = subscribe("x.a", "", plain);
  auto b = consume(kSubmitSubject, durable);
  for (int i = 0; i < 3; ++i) {
    publish_now("x.a", "p");
    publish_now(kSubmitSubject, "d");
  }
  EXPECT_TRUE(got(plain, 3) && got(durable, 3));
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_LT(plain.got[i - 1].sequence, plain.got[i].sequence);
    EXPECT_LT(durable.got[i - 1].sequence, durable.got[i].sequence);
  }
}

TEST_P(BusContract, WhatIsInvalidOrTooLargeIsNotAccepted) {
  EXPECT_EQ(publish_now("a.*", "x").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(publish_now("a.b", std::string(limits::kPacketBytesMax + 1, 'x')).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(world->bus().subscribe("a.>.b", {}, {}).error().code, ErrorCode::kInvalid);
}

// --- How handlers run ----------------------------------------------------------------------------

TEST_P(BusContract, AsManyHandlersRunAtOnceAsAllowed) {
  Listener slow;
  slow.hold = true;
  auto subscription = consume(kSubmitSubject, slow, {.in_flight_max = 2});
  for (const char* payload : {"1", "2", "3"}) publish(kSubmitSubject, payload);
  EXPECT_TRUE(got(slow, 2));
  world->run_for(100ms);
  EXPECT_EQ(slow.payloads(), (Strings{"1", "2"}));
  slow.answer_all();
  EXPECT_TRUE(got(slow, 3));
  slow.answer_all();
}

TEST_P(BusContract, MessagesOfOneKeyAreHandledOneAtATimeInOrder) {
  Listener slow;
  slow.hold = true;
  auto subscription = consume(kSubmitSubject, slow, {.key = first_letter});
  for (const char* payload : {"a1", "a2", "b1", "a3", "b2"}) publish(kSubmitSubject, payload);
  EXPECT_TRUE(got(slow, 2));
  world->run_for(100ms);
  EXPECT_EQ(slow.payloads(), (Strings{"a1", "b1"}));
  slow.waiting[0].complete({});
  EXPECT_TRUE(got(slow, 3));
  EXPECT_EQ(slow.got[2].payload, "a2");
  slow.waiting[2].complete({});
  EXPECT_TRUE(got(slow, 4));
  EXPECT_EQ(slow.got[3].payload, "a3");
  slow.waiting[1].complete({});
  EXPECT_TRUE(got(slow, 5));
  EXPECT_EQ(slow.got[4].payload, "b2");
}

// --- Durable subjects ----------------------------------------------------------------------------

TEST_P(BusContract, ADurableMessageIsAnsweredWithStoredAndDeliveredOnce) {
  Listener scheduler;
  auto subscription = consume(kSubmitSubject, scheduler);
  EXPECT_EQ(publish_now(kSubmitSubject, "job", "id"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1));
  EXPECT_EQ(scheduler.got[0].subject, kSubmitSubject);
  EXPECT_EQ(scheduler.got[0].payload, "job");
  EXPECT_EQ(scheduler.got[0].deliveries, 1u);
  world->run_for(200ms);
  EXPECT_EQ(scheduler.got.size(), 1u);
}

TEST_P(BusContract, ADurableMessageGoesToEveryGroupThatConsumesIt) {
  Listener scheduler, workflow;
  auto a = consume(kResultSubject, scheduler);
  auto b = consume(kResultSubject, workflow, {}, "cordum-workflow-engine");
  EXPECT_EQ(publish_now(kResultSubject, "result"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1) && got(workflow, 1));
}

TEST_P(BusContract, ADurableMessageIsHeardByPlainSubscribersToo) {
  Listener scheduler, exact, wide;
  auto a = consume(kSubmitSubject, scheduler);
  auto b = subscribe(kSubmitSubject, "", exact);
  auto c = subscribe("sys.job.>", "", wide);
  EXPECT_EQ(publish_now(kSubmitSubject, "job"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1) && got(exact, 1) && got(wide, 1));
}

TEST_P(BusContract, ADurableMessageGivenBackComesAgainAfterTheDelay) {
  Listener scheduler;
  scheduler.verdicts = {Verdict::nak(300ms, "busy")};
  auto subscription = consume(kSubmitSubject, scheduler);
  const MonotonicTime before = world->now();
  EXPECT_EQ(publish_now(kSubmitSubject, "job", "id"), Published::kStored);
  ASSERT_TRUE(got(scheduler, 2));
  EXPECT_GE(world->now() - before, 300ms);
  EXPECT_EQ(scheduler.got[1].deliveries, 2u);
  EXPECT_EQ(scheduler.got[1].payload, "job");
  EXPECT_EQ(scheduler.got[1].sequence, scheduler.got[0].sequence);
  EXPECT_EQ(scheduler.got[1].stored_at, scheduler.got[0].stored_at);
}

TEST_P(BusContract, ADurableMessageThatIsTerminatedDoesNotComeAgain) {
  Listener scheduler;
  scheduler.verdicts = {Verdict::nak(10ms, "busy"), Verdict::terminate("poison")};
  auto subscription = consume(kSubmitSubject, scheduler);
  EXPECT_EQ(publish_now(kSubmitSubject, "job"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 2));
  world->run_for(200ms);
  EXPECT_EQ(scheduler.got.size(), 2u);
}

TEST_P(BusContract, ADurableMessageLetsTheNextOfItsKeyPassWhenGivenBack) {
  Listener scheduler;
  scheduler.verdicts = {Verdict::nak(300ms, "busy")};
  auto subscription = consume(kSubmitSubject, scheduler, {.key = first_letter});
  publish(kSubmitSubject, "a1");
  publish(kSubmitSubject, "a2");
  EXPECT_TRUE(got(scheduler, 3));
  EXPECT_EQ(scheduler.payloads(), (Strings{"a1", "a2", "a1"}));
}

TEST_P(BusContract, ADurableMessageComesAgainWhenItsHandlerThrows) {
  int runs = 0;
  world->prepare(std::string(kSubmitSubject), std::string(kSchedulerQueue));
  auto subscription =
      *world->bus().subscribe(std::string(kSubmitSubject), {.queue = std::string(kSchedulerQueue)},
                              [&runs](Delivery) -> Task<Verdict> {
                                if (++runs == 1) throw std::runtime_error("bug");
                                co_return Verdict::ack();
                              });
  EXPECT_EQ(publish_now(kSubmitSubject, "job"), Published::kStored);
  EXPECT_TRUE(world->run_until([&] { return runs == 2; }));
}

TEST_P(BusContract, ADurableMessageWaitsForTheSchedulerWhileNobodyListens) {
  world->prepare(std::string(kSubmitSubject), std::string(kSchedulerQueue));
  EXPECT_EQ(publish_now(kSubmitSubject, "1"), Published::kStored);
  EXPECT_EQ(publish_now(kSubmitSubject, "2"), Published::kStored);
  Listener scheduler;
  auto subscription = consume(kSubmitSubject, scheduler);
  EXPECT_TRUE(got(scheduler, 2));
  EXPECT_EQ(scheduler.payloads(), (Strings{"1", "2"}));
}

TEST_P(BusContract, ADurableMessageOfOneIdIsDeliveredOnce) {
  Listener submits, results;
  auto a = consume(kSubmitSubject, submits);
  auto b = consume(kResultSubject, results);
  EXPECT_EQ(publish_now(kSubmitSubject, "1", "id-s"), Published::kStored);
  EXPECT_EQ(publish_now(kSubmitSubject, "1", "id-s"), Published::kStored);
  EXPECT_EQ(publish_now(kResultSubject, "1", "id-r"), Published::kStored);
  EXPECT_EQ(publish_now(kSubmitSubject, "2"), Published::kStored);
  EXPECT_EQ(publish_now(kSubmitSubject, "2"), Published::kStored);
  EXPECT_TRUE(got(submits, 3) && got(results, 1));
  world->run_for(100ms);
  EXPECT_EQ(submits.payloads(), (Strings{"1", "2", "2"}));
}

TEST_P(BusContract, ADurableMessageGoesToAnotherMemberWhenItsOwnLeaves) {
  Listener first, second;
  first.hold = true;
  auto a = consume(kSubmitSubject, first, {.in_flight_max = 1});
  publish(kSubmitSubject, "running");
  EXPECT_TRUE(got(first, 1));
  publish(kSubmitSubject, "waiting");
  world->run_for(50ms);
  auto b = consume(kSubmitSubject, second, {.in_flight_max = 1});
  a.reset();
  EXPECT_TRUE(world->run_until([&] {
    auto all = second.payloads();
    return std::set<std::string>(all.begin(), all.end()).size() == 2;
  }));
  // The first handler goes on, but its verdict no longer counts.
  first.verdicts = {Verdict::nak(10ms, "late")};
  first.answer_all();
  world->run_for(200ms);
  EXPECT_EQ(second.got.size(), 2u);
}

TEST_P(BusContract, ADurableMessageIsDeliveredAgainWhenTheLastMemberLeft) {
  Listener first, second;
  first.hold = true;
  auto a = consume(kSubmitSubject, first, {.key = first_letter});
  for (const char* payload : {"a1", "a2", "b1"}) publish(kSubmitSubject, payload);
  EXPECT_TRUE(got(first, 2));
  world->run_for(50ms);
  a.reset();
  world->settle();
  auto b = consume(kSubmitSubject, second);
  EXPECT_TRUE(got(second, 3));
  EXPECT_THAT(second.payloads(), UnorderedElementsAre("a1", "a2", "b1"));
}

// --- Poison --------------------------------------------------------------------------------------

TEST_P(BusContract, ADurableMessageIsTerminatedInsteadOfTheHundredthDeliveryAndTheHookKnowsFirst) {
  Listener scheduler;
  for (uint32_t i = 0; i < 2 * limits::kDeliveriesMax; ++i) {
    scheduler.verdicts.push_back(Verdict::nak(1ms, "never"));
  }
  int asked = 0;
  std::vector<Delivery> buried;
  world->on_terminated([&](Delivery delivery, std::string) -> Task<Result<void>> {
    if (++asked == 1) co_return fail(ErrorCode::kUnavailable, "no dead letters now");
    buried.push_back(std::move(delivery));
    co_return Result<void>{};
  });
  auto subscription = consume(kSubmitSubject, scheduler);
  publish_now(kSubmitSubject, "poison");
  EXPECT_TRUE(world->run_until([&] { return !buried.empty(); }));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(buried[0].payload, "poison");
  world->run_for(200ms);
  EXPECT_EQ(scheduler.got.size(), size_t{limits::kDeliveriesMax - 1});
  EXPECT_EQ(buried.size(), 1u);
}

TEST_P(BusContract, H99_ADeliveryThatIsNotTheMessagesFaultDoesNotWearItOut) {
  Listener scheduler;
  for (uint32_t i = 0; i < 2 * limits::kDeliveriesMax; ++i) {
    scheduler.verdicts.push_back(Verdict::not_now(1ms, "the store is away"));
  }
  auto subscription = consume(kSubmitSubject, scheduler);
  publish_now(kSubmitSubject, "work");
  EXPECT_TRUE(got(scheduler, 2 * limits::kDeliveriesMax + 1));
  world->run_for(100ms);
  EXPECT_EQ(scheduler.got.size(), 2 * limits::kDeliveriesMax + 1);
  EXPECT_EQ(scheduler.got.back().deliveries, 2 * limits::kDeliveriesMax + 1);
}

}  // namespace fairlead::bus
