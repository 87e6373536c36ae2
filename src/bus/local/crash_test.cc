// A bus that is dropped in the middle of anything, and the next one on the same store.
#include <set>

#include <gtest/gtest.h>

#include "bus/local/local_bus_fixture.h"
#include "runtime/random.h"
#include "store/memory/memory_store.h"

namespace fairlead::bus {
namespace {

using Strings = std::vector<std::string>;

class Crash : public LocalBusFixture<store::MemoryStore> {
 protected:
  std::unique_ptr<Subscription> subscribe_scheduler(Subscriber& subscriber) {
    return subscribe(kSubmitSubject, kSchedulerQueue, subscriber);
  }
  // The next life's view of what it has to do.
  Strings redelivered() {
    boot();
    Subscriber next;
    auto subscription = subscribe_scheduler(next);
    loop.run_for(1min);
    return next.payloads();
  }
};

TEST_F(Crash, RedeliversWhatWasStoredForNobody) {
  expect_told(publish_now(kSubmitSubject, "1"), Published::kStored);
  expect_told(publish_now(kSubmitSubject, "2"), Published::kStored);
  crash();
  EXPECT_EQ(redelivered(), (Strings{"1", "2"}));
}

TEST_F(Crash, RedeliversWhatWasGivenBack) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1min, "later")};
  auto subscription = subscribe_scheduler(scheduler);
  expect_told(publish_now(kSubmitSubject, "1"), Published::kStored);
  crash();

  loop.run_for(1s);
  boot();
  Subscriber next;
  auto again = subscribe_scheduler(next);
  loop.run_ready();
  ASSERT_EQ(next.payloads(), Strings{"1"});
  EXPECT_TRUE(next.got[0].queued.has_value());
  EXPECT_GT(next.got[0].deliveries, 1u);
  EXPECT_GT(next.got[0].sequence, scheduler.got[0].sequence);
  EXPECT_EQ(next.got[0].stored_at, scheduler.got[0].stored_at);
}

TEST_F(Crash, RedeliversWhatAHandlerHadNotAnswered) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "later")};
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "1");
  scheduler.hold = true;
  loop.run_for(1s);
  ASSERT_EQ(scheduler.got.size(), 2u);
  crash();
  EXPECT_EQ(redelivered(), Strings{"1"});
}

TEST_F(Crash, DoesNotRedeliverWhatWasAcknowledged) {
  Subscriber scheduler;
  scheduler.verdicts = {Verdict::nak(1s, "later")};
  auto subscription = subscribe_scheduler(scheduler);
  publish_now(kSubmitSubject, "1");
  loop.run_for(1s);
  crash();
  EXPECT_EQ(redelivered(), Strings{});
}

TEST_F(Crash, DoesNotRedeliverWhatTheHandlersChangeConsumed) {
  auto subscription =
      *bus->subscribe(std::string(kSubmitSubject), {.queue = std::string(kSchedulerQueue)},
                      [this](Delivery delivery) -> Task<Verdict> {
                        if (!delivery.queued) co_return Verdict::nak(1s, "later");
                        store::Change change;
                        change.next->id = JobId("job");
                        change.next->state = job::State::kPending;
                        change.path = {job::State::kPending};
                        change.consumed = delivery.queued;
                        Result<store::Receipt> receipt = co_await store.apply(std::move(change));
                        EXPECT_TRUE(std::holds_alternative<store::Applied>(*receipt));
                        (void)co_await Completer<Result<void>>().future();  // never completes
                        co_return Verdict::ack();
                      });
  publish_now(kSubmitSubject, "1");
  loop.run_for(1s);
  crash();
  EXPECT_EQ(redelivered(), Strings{});
}

TEST_F(Crash, TellsAPublisherNothing) {
  Subscriber scheduler;
  scheduler.hold = true;
  auto subscription = subscribe_scheduler(scheduler);
  Told told = publish_now(kSubmitSubject, "1");
  crash();
  loop.run_for(1h);
  EXPECT_FALSE(told->has_value());
  EXPECT_EQ(redelivered(), Strings{});
}

TEST_F(Crash, KeepsGroupsApart) {
  Subscriber workflow;
  workflow.verdicts = {Verdict::nak(1min, "later")};
  auto subscription = subscribe(kResultSubject, "workflow", workflow);
  publish_now(kResultSubject, "1");
  crash();
  boot();
  Subscriber scheduler, again;
  auto a = subscribe(kResultSubject, kSchedulerQueue, scheduler);
  auto b = subscribe(kResultSubject, "workflow", again);
  loop.run_ready();
  EXPECT_EQ(scheduler.payloads(), Strings{"1"});
  EXPECT_EQ(again.payloads(), Strings{"1"});
}

// Every message whose publisher was told kStored is acknowledged by a handler in one of the lives,
// wherever the crashes fall.
TEST_F(Crash, LosesNothingThatWasStoredWhereverItFalls) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    std::set<std::string> stored, acknowledged;
    std::vector<std::pair<std::string, Told>> published;
    for (int life = 0; life < 4; ++life) {
      boot();
      auto handler = [&](Delivery delivery) -> Task<Verdict> {
        std::string payload = delivery.payload;
        if (random.chance(2)) {
          if (!co_await loop.delay(random.between(0us, 50ms))) co_return Verdict::nak({}, "end");
        }
        if (random.chance(3)) co_return Verdict::nak(random.between(0us, 100ms), "busy");
        acknowledged.insert(payload);
        co_return Verdict::ack();
      };
      std::vector<std::unique_ptr<Subscription>> members;
      for (int step = 0; step < 40; ++step) {
        if (random.chance(4)) {
          members.push_back(*bus->subscribe(
              std::string(kSubmitSubject),
              {.queue = std::string(kSchedulerQueue), .in_flight_max = 1 + random.below(3)},
              handler));
        }
        if (random.chance(8) && !members.empty()) members.pop_back();
        std::string payload = std::to_string(life) + "." + std::to_string(step);
        published.emplace_back(payload, publish(kSubmitSubject, payload));
        loop.run_for(random.between(0us, 10ms));
      }
      if (life == 3) {
        members.push_back(*bus->subscribe(std::string(kSubmitSubject),
                                          {.queue = std::string(kSchedulerQueue)}, handler));
        loop.run_for(1min);
      }
      crash();
    }
    for (const auto& [payload, told] : published) {
      if (told->has_value() && **told == Published::kStored) stored.insert(payload);
    }
    for (const std::string& payload : stored) {
      ASSERT_TRUE(acknowledged.contains(payload)) << "seed " << seed << " lost " << payload;
    }
    ASSERT_GT(stored.size(), 40u) << "seed " << seed;
    auto left = store.queued(1000);
    EXPECT_TRUE(left.await_resume()->empty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::bus
