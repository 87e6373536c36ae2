#include "base/limits.h"
#include "bus/local/local_bus_fixture.h"
#include "bus/local/messages_only_store.h"

namespace fairlead::bus {
namespace {

using Strings = std::vector<std::string>;

class DurableSubject : public LocalBusFixture<MessagesOnlyStore> {
 protected:
  std::unique_ptr<Subscription> subscribe_scheduler(Subscriber& subscriber,
                                                    SubscribeOptions options = {}) {
    return subscribe(kSubmitSubject, kSchedulerQueue, subscriber, std::move(options));
  }
};

// --- The good case -------------------------------------------------------------------------------

TEST_F(DurableSubject, IsAnsweredWhenItsHandlerAcknowledgesAndCostsNoWrite) {
  Subscriber scheduler;
  scheduler.hold = true;
  auto subscription = subscribe_scheduler(scheduler);
  Told told = publish_now(kSubmitSubject, "job");
  EXPECT_FALSE(told->has_value());
  ASSERT_EQ(scheduler.got.size(), 1u);
  EXPECT_EQ(scheduler.got[0].queued, std::nullopt);

  scheduler.answer_all();
  loop.run_ready();
  expect_told(told, Published::kStored);
  EXPECT_EQ(bus->counters().queued, 0u);
  EXPECT_EQ(bus->counters().acked, 1u);
}

TEST_F(DurableSubject, IsAnsweredWhenEveryGroupHasAcknowledged) {
  Subscriber scheduler, workflow;
  workflow.hold = true;
  auto a = subscribe(kResultSubject, kSchedulerQueue, scheduler);
  auto b = subscribe(kResultSubject, "cordum-workflow-engine", workflow);
  Told told = publish_now(kResultSubject, "result");
  EXPECT_EQ(scheduler.ended, 1u);
  EXPECT_FALSE(told->has_value());
  workflow.answer_all();
  loop.run_ready();
  expect_told(told, Published::kStored);
}

TEST_F(DurableSubject, IsTappedByPlainSubscribersWhoseVerdictDoesNotMatter) {
  Subscriber scheduler, tap, wide, shared;
  tap.hold = true;
  auto a = subscribe_scheduler(scheduler);
  auto b = subscribe(kSubmitSubject, "", tap);
  auto c = subscribe("sys.job.>", "", wide);
  auto d = subscribe("sys.job.*", kSchedulerQueue, shared);
  expect_told(publish_now(kSubmitSubject, "job"), Published::kStored);
  EXPECT_EQ(scheduler.got.size(), 1u);
  EXPECT_EQ(tap.got.size(), 1u);
  EXPECT_EQ(wide.got.size(), 1u);
  EXPECT_EQ(shared.got.size(), 1u);
}

TEST_F(DurableSubject, IsAnsweredWithStoredWhenTheHandlerTerminatesIt) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::terminate("poison")};
  auto subscription = subscribe_scheduler(scheduler);
  expect_told(publish_now(kSubmitSubject, "job"), Published::kStored);
  loop.run_for(1min);
  EXPECT_EQ(scheduler.got.size(), 1u);
  EXPECT_EQ(bus->counters().terminated, 1u);
}

TEST_F(DurableSubject, DoesNotCareWhetherThePublisherWaits) {
  Subscriber scheduler;
  auto subscription = subscribe_scheduler(scheduler);
  (void)bus->publish(std::string(kSubmitSubject), "job", {});
  loop.run_ready();
  EXPECT_EQ(bus->counters().acked, 1u);
}

// --- Given back ----------------------------------------------------------------------------------

TEST_F(DurableSubject, IsWrittenToTheStoreWhenGivenBackAndDeliveredAgainAfterTheDelay) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(5s, "busy")};
  auto subscription = subscribe_scheduler(scheduler);
  expect_told(publish_now(kSubmitSubject, "job", "id"), Published::kStored);
  ASSERT_EQ(store.messages.size(), 1u);
  const auto& [sequence, message] = *store.messages.begin();
  const Sequence stored = sequence;
  EXPECT_EQ(message, (store::Message{std::string(kSubmitSubject), "job", "id",
                                     std::string(kSchedulerQueue)}));

  loop.run_for(4999ms);
  EXPECT_EQ(scheduler.got.size(), 1u);
  loop.run_for(1ms);
  ASSERT_EQ(scheduler.got.size(), 2u);
  EXPECT_EQ(scheduler.got[1].queued, stored);
  EXPECT_EQ(scheduler.got[1].deliveries, 2u);
  EXPECT_EQ(scheduler.got[1].sequence, scheduler.got[0].sequence);
  EXPECT_EQ(scheduler.got[1].stored_at, scheduler.got[0].stored_at);
}

TEST_F(DurableSubject, IsForgottenOnceAcknowledged) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "busy"), Verdict::nak(1s, "busy")};
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "job");
  loop.run_for(1s);
  EXPECT_EQ(store.messages.size(), 1u);
  loop.run_for(1s);
  EXPECT_EQ(scheduler.got.size(), 3u);
  EXPECT_TRUE(store.messages.empty());
  EXPECT_EQ(bus->counters().queued, 1u);
  EXPECT_EQ(bus->counters().naked, 2u);
  EXPECT_EQ(bus->counters().redelivered, 2u);
}

TEST_F(DurableSubject, IsForgottenOnceTerminated) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "busy"), Verdict::terminate("poison")};
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "job");
  loop.run_for(1s);
  EXPECT_TRUE(store.messages.empty());
}

TEST_F(DurableSubject, IsForgottenLaterWhenTheStoreCannotNow) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "busy")};
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "job");
  store.forget_error = Error{ErrorCode::kUnavailable, "slow"};
  loop.run_for(10s);
  EXPECT_EQ(store.messages.size(), 1u);
  store.forget_error.reset();
  loop.run_for(limits::kRetryStore);
  EXPECT_TRUE(store.messages.empty());
  EXPECT_EQ(scheduler.got.size(), 2u);
}

TEST_F(DurableSubject, IsRefusedWhenGivenBackAndTheStoreIsFull) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "store")};
  auto subscription = subscribe_scheduler(scheduler);
  store.enqueue_error = Error{ErrorCode::kFull, "disk"};
  expect_told(publish_now(kSubmitSubject, "job"), Published::kRefused);
  loop.run_for(1min);
  EXPECT_EQ(scheduler.got.size(), 1u);
}

TEST_F(DurableSubject, IsUnknownWhenTheStoreDoesNotKnow) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "store")};
  auto subscription = subscribe_scheduler(scheduler);
  store.enqueue_error = Error{ErrorCode::kUnknown, "lost the answer"};
  expect_told(publish_now(kSubmitSubject, "job"), Published::kUnknown);
}

TEST_F(DurableSubject, IsUnknownWhenOneGroupHasItAndAnotherWillNot) {
  Subscriber scheduler, workflow;
  workflow.verdicts = {Verdict::nak(1s, "no")};
  auto a = subscribe(kResultSubject, kSchedulerQueue, scheduler);
  auto b = subscribe(kResultSubject, "workflow", workflow);
  store.enqueue_error = Error{ErrorCode::kUnavailable, "down"};
  expect_told(publish_now(kResultSubject, "result"), Published::kUnknown);
}

TEST_F(DurableSubject, IsAnsweredOnlyWhenTheStoreHasAnswered) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "busy")};
  auto subscription = subscribe_scheduler(scheduler);
  store.hold_answers = true;
  Told told = publish_now(kSubmitSubject, "job");
  loop.run_for(10s);
  EXPECT_FALSE(told->has_value());
  EXPECT_EQ(scheduler.got.size(), 1u);
  store.give_answers();
  loop.run_for(1s);
  expect_told(told, Published::kStored);
  EXPECT_EQ(scheduler.got.size(), 2u);
}

TEST_F(DurableSubject, GoesOnlyToTheGroupThatGaveItBack) {
  Subscriber scheduler, workflow;
  workflow.verdicts = {Verdict::nak(1s, "no")};
  auto a = subscribe(kResultSubject, kSchedulerQueue, scheduler);
  auto b = subscribe(kResultSubject, "workflow", workflow);
  publish_now(kResultSubject, "result");
  loop.run_for(1s);
  EXPECT_EQ(scheduler.got.size(), 1u);
  EXPECT_EQ(workflow.got.size(), 2u);
}

TEST_F(DurableSubject, ComesBackAfterASecondWhenItsHandlerThrows) {
  int runs = 0;
  auto subscription =
      *bus->subscribe(std::string(kSubmitSubject), {.queue = std::string(kSchedulerQueue)},
                      [&runs](Delivery) -> Task<Verdict> {
                        if (++runs == 1) throw std::runtime_error("bug");
                        co_return Verdict::ack();
                      });
  expect_told(publish_now(kSubmitSubject, "job"), Published::kStored);
  loop.run_for(999ms);
  EXPECT_EQ(runs, 1);
  loop.run_for(1ms);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(bus->counters().panicked, 1u);
}

TEST_F(DurableSubject, LetsTheNextOfItsKeyPassWhenGivenBack) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "busy")};
  auto subscription = subscribe_scheduler(
      scheduler, {.key = [](std::string_view payload) { return payload.substr(0, 1); }});
  publish(kSubmitSubject, "a1");
  publish(kSubmitSubject, "a2");
  loop.run_for(1s);
  EXPECT_EQ(scheduler.payloads(), (Strings{"a1", "a2", "a1"}));
}

// --- Nobody there --------------------------------------------------------------------------------

TEST_F(DurableSubject, IsStoredForTheSchedulerWhileNobodyListensAndDeliveredWhenItDoes) {
  Subscriber scheduler;
  expect_told(publish_now(kSubmitSubject, "1"), Published::kStored);
  expect_told(publish_now(kSubmitSubject, "2"), Published::kStored);
  EXPECT_EQ(store.messages.size(), 2u);

  auto subscription = subscribe_scheduler(scheduler);
  loop.run_ready();
  EXPECT_EQ(scheduler.payloads(), (Strings{"1", "2"}));
  EXPECT_EQ(scheduler.got[0].deliveries, 1u);
  EXPECT_TRUE(scheduler.got[0].queued.has_value());
  loop.run_ready();
  EXPECT_TRUE(store.messages.empty());
}

TEST_F(DurableSubject, IsStoredForTheSchedulerThoughAnotherGroupListens) {
  Subscriber workflow;
  auto subscription = subscribe(kResultSubject, "workflow", workflow);
  expect_told(publish_now(kResultSubject, "result"), Published::kStored);
  EXPECT_EQ(workflow.got.size(), 1u);
  ASSERT_EQ(store.messages.size(), 1u);
  EXPECT_EQ(store.messages.begin()->second.group, kSchedulerQueue);
}

TEST_F(DurableSubject, IsRefusedWhenNobodyListensAndTheStoreFails) {
  store.enqueue_error = Error{ErrorCode::kUnavailable, "down"};
  expect_told(publish_now(kSubmitSubject, "1"), Published::kRefused);
}

TEST_F(DurableSubject, NeedsNoConsumerWhenItIsADeadLetter) {
  Subscriber tap;
  expect_told(publish_now(kDeadLetterSubject, "1"), Published::kStored);
  auto subscription = subscribe("sys.job.>", "", tap);
  expect_told(publish_now(kDeadLetterSubject, "2"), Published::kStored);
  EXPECT_EQ(tap.payloads(), Strings{"2"});
  EXPECT_TRUE(store.messages.empty());
}

TEST_F(DurableSubject, IsRefusedAtOnceWhenTooManyWaitForAConsumer) {
  Subscriber scheduler, tap;
  scheduler.hold = true;
  auto a = subscribe_scheduler(scheduler, {.in_flight_max = 1});
  publish_now(kSubmitSubject, "running");
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) publish(kSubmitSubject, "waiting");
  auto b = subscribe(kSubmitSubject, "", tap);
  expect_told(publish(kSubmitSubject, "one too many"), Published::kRefused);
  loop.run_ready();
  EXPECT_TRUE(tap.got.empty());
}

TEST_F(DurableSubject, IsRefusedBeforeTheBusHasStarted) {
  LocalBus fresh(loop, clock, store);
  auto answer = fresh.publish(std::string(kSubmitSubject), "job", {});
  ASSERT_TRUE(answer.await_ready());
  EXPECT_EQ(answer.await_resume(), Published::kRefused);
}

// --- Leaving -------------------------------------------------------------------------------------

TEST_F(DurableSubject, GoesToAnotherMemberWhenItsOwnLeaves) {
  Subscriber first, second;
  first.hold = true;
  auto a = subscribe_scheduler(first, {.in_flight_max = 1});
  Told running = publish_now(kSubmitSubject, "running");
  Told waiting = publish_now(kSubmitSubject, "waiting");
  auto b = subscribe_scheduler(second, {.in_flight_max = 1});
  a.reset();
  loop.run_ready();
  EXPECT_EQ(second.payloads(), (Strings{"running", "waiting"}));
  EXPECT_EQ(second.got[0].deliveries, 2u);
  expect_told(running, Published::kStored);
  expect_told(waiting, Published::kStored);
  EXPECT_TRUE(store.messages.empty());

  // The first handler goes on, but its verdict no longer counts.
  first.verdicts = {Verdict::nak(1s, "late")};
  first.answer_all();
  loop.run_for(1min);
  EXPECT_EQ(first.ended, 1u);
  EXPECT_EQ(second.got.size(), 2u);
}

TEST_F(DurableSubject, GoesBackToTheStoreWhenTheLastMemberLeaves) {
  Subscriber first, second;
  first.hold = true;
  auto a = subscribe_scheduler(
      first, {.key = [](std::string_view payload) { return payload.substr(0, 1); }});
  Told running = publish_now(kSubmitSubject, "a1");
  Told in_line = publish_now(kSubmitSubject, "a2");
  Told other_key = publish_now(kSubmitSubject, "b1");
  a.reset();
  loop.run_ready();
  EXPECT_EQ(store.messages.size(), 3u);
  for (const Told& told : {running, in_line, other_key}) expect_told(told, Published::kStored);

  auto b = subscribe_scheduler(second);
  loop.run_ready();
  EXPECT_EQ(second.payloads(), (Strings{"a1", "a2", "b1"}));
}

TEST_F(DurableSubject, CostsNoWriteWhenItsSubscriberIsReplacedAtOnce) {
  Subscriber first, second;
  first.hold = true;
  auto a = subscribe_scheduler(first);
  Told told = publish_now(kSubmitSubject, "1");
  a.reset();
  auto b = subscribe_scheduler(second);
  loop.run_ready();
  expect_told(told, Published::kStored);
  EXPECT_EQ(second.got.size(), 1u);
  EXPECT_EQ(bus->counters().queued, 0u);
}

TEST_F(DurableSubject, IsNotKeptForAGroupThatHasLeft) {
  Subscriber gateway;
  auto subscription = subscribe(kDeadLetterSubject, "cordum-gateway", gateway);
  subscription.reset();
  expect_told(publish_now(kDeadLetterSubject, "1"), Published::kStored);
  EXPECT_TRUE(store.messages.empty());
}

// --- Poison --------------------------------------------------------------------------------------

class WornOut : public DurableSubject {
 protected:
  WornOut() {
    for (uint32_t i = 0; i < 2 * limits::kDeliveriesMax; ++i) {
      scheduler.verdicts.push_back(Verdict::nak(1s, "never"));
    }
    subscription = subscribe_scheduler(scheduler);
  }
  Subscriber scheduler;
  std::unique_ptr<Subscription> subscription;
};

TEST_F(WornOut, IsTerminatedInsteadOfTheHundredthDelivery) {
  publish_now(kSubmitSubject, "poison");
  loop.run_for(1h);
  EXPECT_EQ(scheduler.got.size(), static_cast<size_t>(limits::kDeliveriesMax - 1));
  EXPECT_TRUE(store.messages.empty());
  EXPECT_EQ(bus->counters().terminated, 1u);
}

TEST_F(DurableSubject, H99_ADeliveryThatIsNotTheMessagesFaultDoesNotWearItOut) {
  Subscriber scheduler;
  for (uint32_t i = 0; i < 2 * limits::kDeliveriesMax; ++i) {
    scheduler.verdicts.push_back(Verdict::not_now(1s, "the store is away"));
  }
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "work");
  loop.run_for(1h);
  EXPECT_EQ(scheduler.got.size(), 2 * limits::kDeliveriesMax + 1);
  EXPECT_EQ(scheduler.got.back().deliveries, 2 * limits::kDeliveriesMax + 1);
  EXPECT_EQ(bus->counters().terminated, 0u);
  EXPECT_EQ(bus->counters().acked, 1u);
}

TEST_F(WornOut, TellsTheHookFirstAndWaitsForIt) {
  std::vector<Delivery> told;
  Completer<Result<void>> written;
  bus->on_terminated([&](Delivery delivery, std::string) -> Task<Result<void>> {
    told.push_back(std::move(delivery));
    co_return co_await written.future();
  });
  publish_now(kSubmitSubject, "poison");
  loop.run_for(1h);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].payload, "poison");
  EXPECT_EQ(store.messages.size(), 1u);
  written.complete({});
  loop.run_ready();
  EXPECT_TRUE(store.messages.empty());
}

TEST_F(WornOut, IsKeptWhileTheHookFails) {
  int asked = 0;
  bus->on_terminated([&](Delivery, std::string) -> Task<Result<void>> {
    if (++asked <= 2) co_return fail(ErrorCode::kUnavailable, "no dead letters now");
    co_return Result<void>{};
  });
  publish_now(kSubmitSubject, "poison");
  loop.run_for((limits::kDeliveriesMax - 1) * 1s);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(store.messages.size(), 1u);
  loop.run_for(limits::kPoisonRetry - 1us);
  EXPECT_EQ(asked, 1);
  loop.run_for(1us);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(store.messages.size(), 1u);
  loop.run_for(limits::kPoisonRetry);
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(store.messages.empty());
}

// --- Duplicates ----------------------------------------------------------------------------------

TEST_F(DurableSubject, IsDeliveredOnceForOneIdWithinTheWindow) {
  Subscriber scheduler;
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "1", "id");
  loop.run_for(limits::kDuplicateWindow - 1us);
  expect_told(publish_now(kSubmitSubject, "1", "id"), Published::kStored);
  EXPECT_EQ(scheduler.got.size(), 1u);
  loop.run_for(1us);
  publish_now(kSubmitSubject, "1", "id");
  EXPECT_EQ(scheduler.got.size(), 2u);
}

TEST_F(DurableSubject, IsNoDuplicateOnAnotherSubjectOrWithoutId) {
  Subscriber submits, results;
  auto a = subscribe_scheduler(submits);
  auto b = subscribe(kResultSubject, kSchedulerQueue, results);
  publish_now(kSubmitSubject, "1", "id");
  publish_now(kResultSubject, "1", "id");
  publish_now(kSubmitSubject, "2");
  publish_now(kSubmitSubject, "2");
  EXPECT_EQ(submits.got.size(), 3u);
  EXPECT_EQ(results.got.size(), 1u);
}

TEST_F(DurableSubject, IsNoDuplicateOfAMessageThatWasRefused) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "store")};
  auto subscription = subscribe_scheduler(scheduler);
  store.enqueue_error = Error{ErrorCode::kUnavailable, "down"};
  expect_told(publish_now(kSubmitSubject, "1", "id"), Published::kRefused);
  expect_told(publish_now(kSubmitSubject, "1", "id"), Published::kStored);
  EXPECT_EQ(scheduler.got.size(), 2u);
}

// --- Sequences -----------------------------------------------------------------------------------

TEST_F(DurableSubject, ReservesMoreSequencesBeforeTheyAreUsedUp) {
  Subscriber tap;
  auto subscription = subscribe("a.b", "", tap, {.in_flight_max = 1});
  store.reserve_error = Error{ErrorCode::kUnavailable, "slow"};
  for (uint64_t i = 0; i < limits::kBusSequenceBlock / 2 + 1; ++i)
    (void)bus->publish("x.y", "", {});
  EXPECT_EQ(store.reservations, 2u);
  store.reserve_error.reset();
  loop.run_for(limits::kRetryStore);
  EXPECT_EQ(store.reservations, 3u);

  publish_now("a.b", "before");
  for (uint64_t i = 0; i < limits::kBusSequenceBlock / 2; ++i) (void)bus->publish("x.y", "", {});
  publish_now("a.b", "after");
  EXPECT_LT(tap.got[0].sequence, tap.got[1].sequence);
}

TEST_F(DurableSubject, TellsWhenItCannotStart) {
  store.reserve_error = Error{ErrorCode::kUnavailable, "down"};
  boot();
  EXPECT_EQ(started->error().code, ErrorCode::kUnavailable);
}

// --- The end -------------------------------------------------------------------------------------

TEST_F(DurableSubject, IsAnsweredByACancelledBus) {
  Subscriber scheduler;
  scheduler.hold = true;
  auto subscription = subscribe_scheduler(
      scheduler, {.key = [](std::string_view payload) { return payload.substr(0, 1); }});
  Told running = publish_now(kSubmitSubject, "a1");
  Told in_line = publish_now(kSubmitSubject, "a2");
  Told also = publish_now(kSubmitSubject, "a3");
  Told unseen = publish(kSubmitSubject, "b1");
  bus->cancel();
  loop.run_ready();

  EXPECT_TRUE(bus->idle().await_ready());
  expect_told(running, Published::kStored);
  EXPECT_EQ(store.messages.size(), 1u);
  for (const Told& told : {in_line, also, unseen}) expect_told(told, Published::kRefused);
  expect_told(publish_now(kSubmitSubject, "late"), Published::kRefused);
  EXPECT_EQ(bus->subscribe("a.b", {}, {}).error().code, ErrorCode::kUnavailable);
}

TEST_F(DurableSubject, MayEndTheBusFromAPublishersTurn) {
  Subscriber scheduler;
  auto subscription = subscribe_scheduler(scheduler);
  auto publisher = [](std::unique_ptr<LocalBus>& given) -> Task<void> {
    (void)co_await given->publish(std::string(kSubmitSubject), "job", {});
    given.reset();
  };
  publishers.spawn(publisher(bus));
  publish(kSubmitSubject, "other");
  loop.run_for(1h);
  EXPECT_EQ(bus, nullptr);
}

TEST_F(DurableSubject, SurvivesSubscriptionsThatOutliveTheBus) {
  Subscriber scheduler;
  scheduler.hold = true;
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "job");
  bus.reset();
  subscription.reset();
  loop.run_for(1h);
  EXPECT_TRUE(store.messages.empty());
}

}  // namespace
}  // namespace fairlead::bus
