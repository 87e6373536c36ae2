// The server is killed, stopped and started again while the bus works.
#include <set>

#include <gmock/gmock.h>

#include "bus/contract/bus_world.h"
#include "bus/nats/admin_fixture.h"
#include "bus/nats/nats_bus_fixture.h"

namespace fairlead::bus::nats {
namespace {

using cluster::NatsServerProcess;

constexpr std::string_view kDurable = "dur_cordum-scheduler__sys_job_submit";

class NatsFaults : public testing::Test {
 protected:
  NatsFaults() {
    EXPECT_TRUE(process.start());
    EXPECT_TRUE(process.bind(kSubmitSubject));
  }
  std::unique_ptr<Subscription> consume(Process& at, Handler handler) {
    return *at.bus->subscribe(std::string(kSubmitSubject), {.queue = std::string(kSchedulerQueue)},
                              std::move(handler));
  }
  Future<Result<Published>> publish(std::string payload) {
    std::string id = "id-" + payload;
    return process.bus->publish(std::string(kSubmitSubject), std::move(payload), std::move(id));
  }
  const Consumer& consumer() { return *process.bus->consumer(kSubmitSubject, kSchedulerQueue); }
  bool reconnects(uint64_t connections) {
    return loop.run_until(
        [&, connections] { return process.bus->counters().connections >= connections; });
  }

  NatsServerProcess server;
  RealLoop loop;
  Process process{loop, with_jetstream(server)};
};

// Publishes one message after the other, each until it is stored, as many at once as there are
// publishers.
struct Load {
  int next = 0;
  int last = 0;
  std::set<std::string> stored;
  int unknown = 0;
  int refused = 0;
};

Task<void> publish_all(RealLoop& loop, NatsBus& bus, Load& load) {
  while (load.next < load.last) {
    const std::string payload = std::to_string(load.next++);
    while (true) {
      auto answer = co_await bus.publish(std::string(kSubmitSubject), payload, "id-" + payload);
      if (answer && *answer == Published::kStored) {
        load.stored.insert(payload);
        break;
      }
      load.unknown += answer && *answer == Published::kUnknown;
      load.refused += answer && *answer == Published::kRefused;
      (void)co_await loop.loop().delay(20ms);
    }
  }
}

TEST_F(NatsFaults, NothingAcknowledgedIsLostWhenTheServerIsKilledUnderLoad) {
  std::set<std::string> handled;
  auto subscription = consume(process, [&](Delivery delivery) -> Task<Verdict> {
    (void)co_await loop.loop().delay(1ms);
    handled.insert(delivery.payload);
    co_return Verdict::ack();
  });
  Load load;
  load.last = 100'000;
  Nursery publishers;
  for (int i = 0; i < 50; ++i) publishers.spawn(publish_all(loop, *process.bus, load));
  for (uint64_t round = 1; round <= 3; ++round) {
    const size_t before = load.stored.size();
    ASSERT_TRUE(loop.run_until([&] { return load.stored.size() > before + 500; }));
    server.kill();
    ASSERT_TRUE(loop.run_until([&] { return !process.bus->connected(); }));
    server.start();
    ASSERT_TRUE(reconnects(round + 1));
  }
  load.last = load.next;
  ASSERT_TRUE(loop.run_until([&] { return publishers.running() == 0; }));
  EXPECT_TRUE(loop.run_until([&] { return handled.size() >= load.stored.size(); }))
      << handled.size() << " of " << load.stored.size();
  for (const std::string& payload : load.stored) EXPECT_TRUE(handled.contains(payload)) << payload;
  EXPECT_GT(load.refused, 0);
}

TEST_F(NatsFaults, AFrozenServerMakesPublishesUnknownAndThenGoesOn) {
  size_t handled = 0;
  auto subscription = consume(process, [&](Delivery) -> Task<Verdict> {
    ++handled;
    co_return Verdict::ack();
  });
  server.freeze();
  std::vector<Future<Result<Published>>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(publish(std::to_string(i)));
  for (auto& answer : answers) EXPECT_EQ(loop.wait(std::move(answer), 10s), Published::kUnknown);
  server.thaw();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(loop.run_until([&] { return process.bus->connected(); }));
    EXPECT_EQ(loop.wait(publish(std::to_string(i))), Published::kStored);
  }
  EXPECT_TRUE(loop.run_until([&] { return handled == 100; }));
  EXPECT_EQ(process.bus->published().duplicates, 100u);
}

TEST_F(NatsFaults, AServerThatDoesNotAnswerPingsIsLeftInSeconds) {
  const MonotonicTime before = loop.loop().now();
  server.freeze();
  EXPECT_TRUE(loop.run_until([&] { return !process.bus->connected(); }));
  EXPECT_LT(loop.loop().now() - before, 8s);
  EXPECT_FALSE(process.bus->listening_since());
  server.thaw();
  EXPECT_TRUE(reconnects(2));
}

TEST_F(NatsFaults, KnowsThatItWasDeafMeanwhile) {
  const auto first = process.bus->listening_since();
  ASSERT_TRUE(first);
  server.kill();
  ASSERT_TRUE(loop.run_until([&] { return !process.bus->connected(); }));
  EXPECT_FALSE(process.bus->listening_since());
  server.start();
  ASSERT_TRUE(reconnects(2));
  ASSERT_TRUE(process.bus->listening_since());
  EXPECT_GT(*process.bus->listening_since(), *first);
}

TEST_F(NatsFaults, AcknowledgementsThatWereLostAreSaidAgain) {
  Listener scheduler;
  scheduler.hold = true;
  auto subscription = consume(process, scheduler.handler());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(loop.wait(publish(std::to_string(i))), Published::kStored);
  ASSERT_TRUE(loop.run_until([&] { return scheduler.got.size() == 10; }));
  server.freeze();
  scheduler.answer_all();
  loop.run_for(50ms);
  server.kill();
  server.start();
  ASSERT_TRUE(reconnects(2));
  Admin admin(loop, server.url());
  uint64_t without_ack = 1;
  for (int tries = 0; tries < 100 && without_ack > 0; ++tries) {
    loop.run_for(20ms);
    without_ack = admin.consumer_number(kDurable, "num_ack_pending");
  }
  EXPECT_EQ(without_ack, 0u);
  EXPECT_EQ(scheduler.got.size(), 10u);
}

TEST_F(NatsFaults, ANakWithoutAConnectionStaysHereAndIsHandledAgain) {
  Listener scheduler;
  scheduler.hold = true;
  scheduler.verdicts = {Verdict::nak(100ms, "busy")};
  auto subscription = consume(process, scheduler.handler());
  EXPECT_EQ(loop.wait(publish("job")), Published::kStored);
  ASSERT_TRUE(loop.run_until([&] { return scheduler.got.size() == 1; }));
  server.kill();
  ASSERT_TRUE(loop.run_until([&] { return !process.bus->connected(); }));
  scheduler.hold = false;
  scheduler.answer_all();
  EXPECT_TRUE(loop.run_until([&] { return scheduler.got.size() == 2; }));
  EXPECT_EQ(consumer().counters().kept, 1u);
}

TEST_F(NatsFaults, AStreamThatWasLostIsMadeAnewAndItsMessagesAreNotTakenForOldOnes) {
  std::vector<std::string> handled;
  auto subscription = consume(process, [&](Delivery delivery) -> Task<Verdict> {
    handled.push_back(delivery.payload);
    co_return Verdict::ack();
  });
  for (const char* payload : {"old-1", "old-2"}) {
    EXPECT_EQ(loop.wait(publish(payload)), Published::kStored);
  }
  ASSERT_TRUE(loop.run_until([&] { return handled.size() == 2; }));
  server.kill();
  std::filesystem::remove_all(server.folder() / "data");
  server.start();
  ASSERT_TRUE(reconnects(2));
  for (const char* payload : {"new-1", "new-2"}) {
    Result<Published> answer = Published::kRefused;
    while (answer != Published::kStored) answer = loop.wait(publish(payload));
  }
  EXPECT_TRUE(loop.run_until([&] { return handled.size() == 4; }));
  EXPECT_EQ(handled, (std::vector<std::string>{"old-1", "old-2", "new-1", "new-2"}));
}

TEST_F(NatsFaults, AnswersAreNotSaidAgainForMessagesThatCameInThePlaceOfLostOnes) {
  Listener scheduler;
  auto subscription = consume(process, scheduler.handler());
  EXPECT_EQ(loop.wait(publish("kept")), Published::kStored);
  ASSERT_TRUE(loop.run_until([&] { return consumer().counters().acked == 1; }));
  server.kill();
  const auto data = server.folder() / "data", before = server.folder() / "before";
  std::filesystem::copy(data, before, std::filesystem::copy_options::recursive);
  server.start();
  ASSERT_TRUE(reconnects(2));
  EXPECT_EQ(loop.wait(publish("lost")), Published::kStored);
  ASSERT_TRUE(loop.run_until([&] { return consumer().counters().acked == 2; }));
  server.kill();
  std::filesystem::remove_all(data);
  std::filesystem::rename(before, data);
  server.start();

  // Another is quicker than the one that acknowledged what was lost.
  Process other(loop, with_jetstream(server));
  ASSERT_TRUE(other.start() && other.bind(kSubmitSubject));
  Listener holds;
  holds.hold = true;
  auto held = consume(other, holds.handler());
  EXPECT_EQ(loop.wait(other.bus->publish(std::string(kSubmitSubject), "new", {})),
            Published::kStored);
  ASSERT_TRUE(loop.run_until([&] { return holds.got.size() + scheduler.got.size() == 3; }));
  ASSERT_TRUE(reconnects(3));
  loop.run_for(200ms);
  if (holds.got.size() == 1) {
    Admin admin(loop, server.url());
    EXPECT_GE(admin.consumer_number(kDurable, "num_ack_pending"), 1u);
  }
}

TEST_F(NatsFaults, TheBusMayBeEndedByAPublisherThatLearnsOfALostConnection) {
  auto ending = [](std::optional<NatsBus>& bus, Future<Result<Published>> answer) -> Task<bool> {
    (void)co_await answer;
    bus.reset();
    co_return true;
  };
  server.freeze();
  auto first = publish("1");
  auto second = publish("2");
  auto third = process.bus->publish("nobody", "3", {});
  loop.run_for(50ms);
  server.kill();
  EXPECT_TRUE(loop.wait(ending(process.bus, std::move(first))));
  loop.run_for(100ms);
}

}  // namespace
}  // namespace fairlead::bus::nats
