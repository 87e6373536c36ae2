// Messages of a replica that died without answering them.
#include "bus/nats/recovery.h"

#include <set>

#include <gmock/gmock.h>

#include "bus/contract/bus_world.h"
#include "bus/nats/admin_fixture.h"
#include "bus/nats/nats_bus_fixture.h"

namespace fairlead::bus::nats {
namespace {

using cluster::NatsServerProcess;

constexpr std::string_view kDurable = "dur_cordum-scheduler__sys_job_submit";

class RecoveryTest : public testing::Test {
 protected:
  std::unique_ptr<Process> process() {
    auto made = std::make_unique<Process>(loop, with_jetstream(server));
    EXPECT_TRUE(made->start());
    EXPECT_TRUE(made->bind(kSubmitSubject));
    return made;
  }
  std::unique_ptr<Subscription> consume(Process& at, Listener& listener,
                                        SubscribeOptions options = {}) {
    options.queue = kSchedulerQueue;
    return *at.bus->subscribe(std::string(kSubmitSubject), std::move(options), listener.handler());
  }
  void publish(Process& at, int first, int count) {
    std::vector<Future<Result<Published>>> answers;
    for (int i = first; i < first + count; ++i) {
      answers.push_back(at.bus->publish(std::string(kSubmitSubject), std::to_string(i), {}));
      // Others use the stream too.
      if (i % 10 == 0) answers.push_back(at.bus->publish("sys.heartbeat", "beat", {}));
    }
    for (auto& answer : answers) EXPECT_EQ(loop.wait(std::move(answer)), Published::kStored);
  }
  Recovery recovery(Process& at) { return at.bus->recovery(kSubmitSubject, kSchedulerQueue); }
  bool everything_is_answered() {
    Admin admin(loop, server.url());
    for (int tries = 0; tries < 200; ++tries) {
      if (admin.consumer_number(kDurable, "num_ack_pending") == 0) return true;
      loop.run_for(10ms);
    }
    return false;
  }
  // A process that takes `count` messages and dies with them.
  void die_with(int count) {
    auto dead = process();
    Listener listener;
    listener.hold = true;
    auto subscription = consume(*dead, listener);
    publish(*dead, 0, count);
    EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == static_cast<size_t>(count); }));
    dead->bus.reset();
  }

  NatsServerProcess server;
  RealLoop loop;
};

TEST_F(RecoveryTest, TakesWhatADeadProcessDidNotAnswerInSecondsNotInAckWait) {
  die_with(1000);
  auto alive = process();
  Listener listener;
  auto subscription = consume(*alive, listener);
  const MonotonicTime before = loop.loop().now();
  Recovery from_stream = recovery(*alive);
  auto recovered = loop.wait(from_stream.run(0s));
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->recovered, 1000u);
  EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == 1000; }));
  EXPECT_LT(loop.loop().now() - before, 5s);
  EXPECT_EQ(listener.got[0].payload, "0");
  EXPECT_EQ(listener.got[0].deliveries, 2u);
  EXPECT_EQ(listener.got[0].subject, kSubmitSubject);
  EXPECT_TRUE(everything_is_answered());

  // Once more there is nothing to be read.
  recovered = loop.wait(from_stream.run(0s));
  EXPECT_EQ(recovered->read, 0u);
}

TEST_F(RecoveryTest, LetsNewMessagesThroughWhenADeadProcessHadTakenAllThatMayBeWithoutAnAnswer) {
  die_with(2048);
  auto alive = process();
  Listener listener;
  auto subscription = consume(*alive, listener);
  publish(*alive, 2048, 10);
  loop.run_for(300ms);
  EXPECT_EQ(listener.got.size(), 0u);
  Recovery from_stream = recovery(*alive);
  EXPECT_EQ(loop.wait(from_stream.run(0s))->recovered, 2048u);
  EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == 2058; }));
}

// It keeps the floor below all that was done since, which a replica that comes later has not seen.
TEST_F(RecoveryTest, AMessageThatStaysUnansweredHoldsUpNoneOfADeadProcess) {
  constexpr int kDone = 20'000;
  auto dead = process();
  Listener listener;
  listener.hold = true;
  auto subscription = consume(*dead, listener);
  publish(*dead, 0, 1);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == 1; }));
  listener.hold = false;
  for (int first = 1; first < kDone; first += 2000) {
    publish(*dead, first, 2000);
    ASSERT_TRUE(
        loop.run_until([&] { return listener.got.size() == static_cast<size_t>(first + 2000); }));
  }
  std::set<std::string> processed;
  for (size_t i = 1; i < listener.got.size(); ++i) processed.insert(listener.got[i].mark);
  listener.hold = true;
  publish(*dead, kDone + 1, 10);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == kDone + 11; }));
  dead->bus.reset();

  auto alive = process();
  Listener heir;
  auto takes = consume(*alive, heir);
  size_t asked = 0;
  Recovery from_stream = alive->bus->recovery(
      kSubmitSubject, kSchedulerQueue,
      [&](const std::vector<std::string>& marks) -> Future<Result<std::vector<bool>>> {
        ++asked;
        std::vector<bool> told;
        for (const std::string& mark : marks) told.push_back(processed.contains(mark));
        return Result<std::vector<bool>>(std::move(told));
      });
  const MonotonicTime before = loop.loop().now();
  auto recovered = loop.wait(from_stream.run(0s));
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->recovered, 11u);
  EXPECT_TRUE(loop.run_until([&] { return heir.got.size() == 11; }));
  EXPECT_LT(loop.loop().now() - before, 15s);
  EXPECT_LT(asked, static_cast<size_t>(kDone) / 100) << "many at once";
  EXPECT_EQ(heir.got.front().payload, "0");
  EXPECT_TRUE(everything_is_answered());
}

TEST_F(RecoveryTest, ReadsNoMessageTwice) {
  die_with(20);
  auto alive = process();
  Listener listener;
  listener.hold = true;
  auto subscription = consume(*alive, listener);
  Recovery from_stream = recovery(*alive);
  EXPECT_EQ(loop.wait(from_stream.run(0s))->read, 20u);
  // None of them is answered yet, and more are delivered to another that lives.
  auto other = process();
  Listener at_other;
  at_other.hold = true;
  auto b = consume(*other, at_other);
  publish(*other, 20, 40);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() + at_other.got.size() == 60; }));
  auto more = loop.wait(from_stream.run(0s));
  EXPECT_EQ(more->read, 40u);
  EXPECT_EQ(more->recovered, at_other.got.size());
}

TEST_F(RecoveryTest, TakesWhatADeadProcessHadThoughItGaveAsMuchBackItself) {
  auto alive = process();
  Listener giving_back;
  giving_back.verdicts.assign(10, Verdict::nak(100ms, "later"));
  auto gives_back = consume(*alive, giving_back);
  publish(*alive, 0, 10);
  ASSERT_TRUE(loop.run_until([&] { return giving_back.got.size() == 10; }));
  gives_back.reset();

  auto dead = process();
  Listener dies;
  auto takes = consume(*dead, dies);
  ASSERT_TRUE(loop.run_until([&] { return dies.got.size() == 10; }));
  dies.hold = true;
  publish(*dead, 10, 5);
  ASSERT_TRUE(loop.run_until([&] { return dies.got.size() == 15; }));
  dead->bus.reset();

  Listener listener;
  auto subscription = consume(*alive, listener);
  Recovery from_stream = recovery(*alive);
  EXPECT_EQ(loop.wait(from_stream.run(0s))->recovered, 5u);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == 5; }));
  EXPECT_EQ(listener.got[0].payload, "10");
}

TEST_F(RecoveryTest, BeginsAnewWithAStreamThatWasLostAndMadeAnew) {
  die_with(20);
  auto alive = process();
  Listener listener;
  auto subscription = consume(*alive, listener);
  Recovery from_stream = recovery(*alive);
  EXPECT_EQ(loop.wait(from_stream.run(0s))->recovered, 20u);
  ASSERT_TRUE(everything_is_answered());
  subscription.reset();
  {
    Admin admin(loop, server.url());
    admin.ask("STREAM.DELETE.CORDUM_SYS");
  }
  die_with(5);
  subscription = consume(*alive, listener);
  EXPECT_EQ(loop.wait(from_stream.run(0s))->recovered, 5u);
}

TEST_F(RecoveryTest, TakesWhatItGaveBackOnceThatIsDueAndAnotherDiedWithIt) {
  auto alive = process();
  Listener listener;
  listener.verdicts = {Verdict::nak(100ms, "later")};
  auto subscription = consume(*alive, listener);
  publish(*alive, 0, 1);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == 1; }));
  subscription.reset();
  auto dead = process();
  Listener dies;
  dies.hold = true;
  auto takes = consume(*dead, dies);
  ASSERT_TRUE(loop.run_until([&] { return dies.got.size() == 1; }));
  dead->bus.reset();
  subscription = consume(*alive, listener);
  EXPECT_EQ(loop.wait(recovery(*alive).run(0s))->recovered, 1u);
}

TEST_F(RecoveryTest, LeavesAloneWhatIsInItsOwnHands) {
  auto alive = process();
  Listener listener;
  listener.hold = true;
  auto subscription = consume(*alive, listener);
  publish(*alive, 0, 50);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == 50; }));
  auto recovered = loop.wait(recovery(*alive).run(0s));
  EXPECT_EQ(recovered->recovered, 0u);
  loop.run_for(50ms);
  EXPECT_EQ(listener.got.size(), 50u);
}

TEST_F(RecoveryTest, LeavesAloneWhatItGaveBackAndWhatComesAgainLater) {
  die_with(1);
  auto alive = process();
  Listener listener;
  listener.verdicts = {Verdict::nak(1h, "later")};
  auto subscription = consume(*alive, listener);
  publish(*alive, 1, 1);
  ASSERT_TRUE(loop.run_until([&] { return listener.got.size() == 1; }));
  auto recovered = loop.wait(recovery(*alive).run(0s));
  EXPECT_EQ(recovered->read, 2u);
  EXPECT_EQ(recovered->recovered, 1u);
  EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == 2; }));
  EXPECT_EQ(listener.got[1].payload, "0");
}

TEST_F(RecoveryTest, TakesOnlyWhatItHasSeenDeliveredForSomeTime) {
  die_with(10);
  auto alive = process();
  Listener listener;
  auto subscription = consume(*alive, listener);
  Recovery from_stream = recovery(*alive);
  EXPECT_EQ(loop.wait(from_stream.run(300ms))->read, 0u);
  loop.run_for(200ms);
  EXPECT_EQ(loop.wait(from_stream.run(300ms))->read, 0u);
  loop.run_for(200ms);
  EXPECT_EQ(loop.wait(from_stream.run(300ms))->recovered, 10u);
}

TEST_F(RecoveryTest, TellsTheServerWhateverTheVerdictIs) {
  die_with(3);
  auto alive = process();
  Listener listener;
  listener.verdicts = {Verdict::ack(), Verdict::nak(100ms, "busy"), Verdict::terminate("poison")};
  auto subscription = consume(*alive, listener);
  EXPECT_EQ(loop.wait(recovery(*alive).run(0s))->recovered, 3u);
  // The server delivers again what was given back.
  EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == 4; }));
  EXPECT_EQ(listener.got[3].payload, "1");
  EXPECT_TRUE(everything_is_answered());
}

TEST_F(RecoveryTest, HandlesOneOfAKeyAtATime) {
  die_with(10);
  auto alive = process();
  Listener listener;
  listener.hold = true;
  auto subscription =
      consume(*alive, listener, {.key = [](std::string_view) { return std::string_view("same"); }});
  EXPECT_EQ(loop.wait(recovery(*alive).run(0s))->recovered, 10u);
  loop.run_for(100ms);
  EXPECT_EQ(listener.got.size(), 1u);
  listener.hold = false;
  listener.answer_all();
  EXPECT_TRUE(loop.run_until([&] { return listener.got.size() == 10; }));
}

TEST_F(RecoveryTest, GoesOnWhereAnErrorStoppedIt) {
  die_with(10);
  auto alive = process();
  Listener listener;
  auto subscription = consume(*alive, listener);
  Recovery from_stream = recovery(*alive);
  server.kill();
  EXPECT_FALSE(loop.wait(from_stream.run(0s)));
  server.start();
  ASSERT_TRUE(loop.run_until([&] { return alive->bus->counters().connections == 2; }));
  EXPECT_TRUE(loop.wait(from_stream.run(0s)));
  EXPECT_TRUE(loop.run_until([&] {
    std::set<std::string> all;
    for (const std::string& payload : listener.payloads()) all.insert(payload);
    return all.size() == 10;
  }));
}

}  // namespace
}  // namespace fairlead::bus::nats
