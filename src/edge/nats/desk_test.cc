#include "edge/nats/desk.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "bus/local/local_bus_fixture.h"
#include "edge/nats/headers.h"
#include "store/memory/memory_store.h"

namespace fairlead::edge::nats {
namespace {

using bus::Published;
using bus::Subscriber;
using Kind = Command::Kind;
using Strings = std::vector<std::string>;
using namespace std::chrono_literals;

class DeskTest : public bus::LocalBusFixture<store::MemoryStore> {
 protected:
  DeskTest() { make_desk(); }

  void make_desk() {
    desk = std::make_unique<Desk>(loop, *bus, log, [this](std::vector<Reply> batch) {
      ++batches;
      for (Reply& reply : batch) replies.push_back(std::move(reply));
    });
  }

  Command subscribe_command(uint64_t client, std::string subject, std::string name,
                            std::string queue = {}) {
    Command command{.kind = Kind::kSubscribe, .client = client};
    command.message.subject = std::move(subject);
    command.name = std::move(name);
    command.queue = std::move(queue);
    command.backlog = backlog;
    return command;
  }
  static Command publish_command(std::string subject, std::string payload, std::string reply = {},
                                 std::string id = {}) {
    Command command{.kind = Kind::kPublish, .client = 1, .cost = 10};
    command.message.subject = std::move(subject);
    command.message.payload = std::move(payload);
    command.message.id = std::move(id);
    command.tell_no_responders = true;
    if (!reply.empty()) command.message.extras = std::make_shared<bus::Extras>(reply);
    return command;
  }
  static Command unsubscribe_command(uint64_t client, std::string name,
                                     std::optional<uint64_t> max = {}) {
    Command command{.kind = Kind::kUnsubscribe, .client = client};
    command.name = std::move(name);
    command.max = max;
    return command;
  }
  template <class... Commands>
  void obey(Commands... given) {
    std::vector<Command> commands;
    (commands.push_back(std::move(given)), ...);
    desk->obey(std::move(commands));
    loop.run_ready();
  }
  // "client/name:payload" of the messages so far.
  Strings messages() {
    Strings texts;
    for (const Reply& reply : replies) {
      if (reply.kind != Reply::Kind::kMessage) continue;
      texts.push_back(std::to_string(reply.client) + "/" + *reply.name + ":" + reply.payload);
    }
    return texts;
  }
  // Of the message with this payload.
  uint64_t number_of(std::string_view payload) {
    return std::ranges::find(replies, payload, &Reply::payload)->number;
  }
  size_t count(Reply::Kind kind) {
    return static_cast<size_t>(std::ranges::count(replies, kind, &Reply::kind));
  }

  NoLog log;
  Backlog::Total total = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<Backlog> backlog = std::make_shared<Backlog>(total);
  std::vector<Reply> replies;
  size_t batches = 0;
  std::unique_ptr<Desk> desk;
};

TEST_F(DeskTest, CarriesMessagesBetweenClientsAndTheProcess) {
  Subscriber inside;
  auto subscription = subscribe("a.*", "", inside);
  obey(subscribe_command(1, "a.b", "s"), publish_command("a.b", "1"));
  publish_now("a.b", "2");
  EXPECT_EQ(messages(), (Strings{"1/s:1", "1/s:2"}));
  EXPECT_EQ(inside.payloads(), (Strings{"1", "2"}));
}

TEST_F(DeskTest, HandsBackManyMessagesAtOnce) {
  obey(subscribe_command(1, "a", "s"));
  batches = 0;
  std::vector<Command> many;
  for (int i = 0; i < 1000; ++i) many.push_back(publish_command("a", "x"));
  desk->obey(std::move(many));
  loop.run_ready();
  EXPECT_EQ(messages().size(), 1000u);
  EXPECT_LE(batches, 2u);
}

TEST_F(DeskTest, AnswersPingBehindTheMessagesSentBeforeIt) {
  obey(subscribe_command(1, "a", "s"));
  replies.clear();
  obey(unsubscribe_command(9, "x"), publish_command("a", "1"), publish_command("a", "2"),
       Command{.kind = Kind::kPing, .client = 1});
  std::vector<Reply::Kind> kinds;
  for (const Reply& reply : replies) kinds.push_back(reply.kind);
  using enum Reply::Kind;
  EXPECT_EQ(kinds, (std::vector{kMessage, kMessage, kDone, kDone, kDone, kDone, kPong}));
}

TEST_F(DeskTest, SharesTheMessagesOfAQueueBetweenClients) {
  obey(subscribe_command(1, "a", "s", "q"), subscribe_command(2, "a", "t", "q"));
  for (const char* payload : {"1", "2", "3", "4"}) obey(publish_command("a", payload));
  EXPECT_EQ(messages(), (Strings{"1/s:1", "2/t:2", "1/s:3", "2/t:4"}));
}

TEST_F(DeskTest, RefusesTheDispatchToAWorkerThatIsGone) {
  obey(subscribe_command(1, "worker.w.jobs", "s"));
  expect_told(publish_now("worker.w.jobs", "job"), Published::kStored);
  obey(Command{.kind = Kind::kGone, .client = 1});
  expect_told(publish_now("worker.w.jobs", "job"), Published::kRefused);
  EXPECT_EQ(desk->clients(), 0u);
  EXPECT_EQ(desk->subscriptions(), 0u);
}

TEST_F(DeskTest, SaysThatAJobIsInSafeHandsWhenTheSystemHasIt) {
  obey(subscribe_command(1, "worker.w.jobs", "s"));
  bus::Told first = publish_now("worker.w.jobs", "a", "id-a");
  bus::Told second = publish_now("worker.w.jobs", "b", "id-b");
  bus::Told third = publish_now("worker.w.jobs", "c", "id-c");
  ASSERT_EQ(messages(), (Strings{"1/s:a", "1/s:b", "1/s:c"}));
  EXPECT_FALSE(first->has_value());

  obey(Command{.kind = Kind::kWritten, .client = 1, .written = number_of("b")});
  expect_told(first, Published::kStored);
  expect_told(second, Published::kStored);
  EXPECT_FALSE(third->has_value());
}

TEST_F(DeskTest, CannotTellOfAJobThatWasNotWrittenWhenTheConnectionEnded) {
  obey(subscribe_command(1, "worker.w.jobs", "s"));
  bus::Told told = publish_now("worker.w.jobs", "a", "id");
  obey(Command{.kind = Kind::kGone, .client = 1});
  expect_told(told, Published::kUnknown);
  EXPECT_EQ(desk->clients(), 0u);
}

// A worker that drains unsubscribes, and works on what it was sent before.
TEST_F(DeskTest, TellsOfAJobThatIsWrittenAfterItsWorkerHasUnsubscribed) {
  obey(subscribe_command(1, "worker.w.jobs", "s"));
  bus::Told told = publish_now("worker.w.jobs", "a", "id");
  obey(unsubscribe_command(1, "s"));
  EXPECT_FALSE(told->has_value());
  obey(Command{.kind = Kind::kWritten, .client = 1, .written = number_of("a")});
  expect_told(told, Published::kStored);
  EXPECT_EQ(desk->clients(), 0u);
}

TEST_F(DeskTest, TellsWhenNobodyListensForAWorkersJobsAnyMore) {
  Subscriber told;
  auto subscription = subscribe(bus::kWorkerGoneSubject, "", told);
  obey(subscribe_command(1, "worker.a.jobs", "s"), subscribe_command(1, "worker.b.jobs", "t"),
       subscribe_command(2, "worker.b.jobs", "s", "b"), subscribe_command(3, "worker.*.jobs", "s"),
       subscribe_command(3, "worker.c.other", "t"));
  obey(unsubscribe_command(1, "s"));
  EXPECT_EQ(told.payloads(), Strings{"a"});
  obey(Command{.kind = Kind::kGone, .client = 1});
  EXPECT_EQ(told.payloads(), Strings{"a"}) << "another listens for b";
  obey(Command{.kind = Kind::kGone, .client = 2}, Command{.kind = Kind::kGone, .client = 3});
  EXPECT_EQ(told.payloads(), (Strings{"a", "b"}));
}

TEST_F(DeskTest, TellsThatAWorkerIsGoneBehindItsLastHeartbeat) {
  Strings heard;
  auto note = [&heard](bus::Delivery delivery) -> Task<bus::Verdict> {
    heard.push_back(delivery.subject);
    co_return bus::Verdict::ack();
  };
  auto gone = *bus->subscribe(std::string(bus::kWorkerGoneSubject), {}, note);
  auto beats = *bus->subscribe(std::string(bus::kHeartbeatSubject), {}, note);
  obey(subscribe_command(1, "worker.a.jobs", "s"));
  obey(publish_command(std::string(bus::kHeartbeatSubject), "beat"),
       Command{.kind = Kind::kGone, .client = 1});
  EXPECT_EQ(heard,
            (Strings{std::string(bus::kHeartbeatSubject), std::string(bus::kWorkerGoneSubject)}));
}

TEST_F(DeskTest, EndsASubscriptionAtOnceOrAfterItsLastMessage) {
  obey(subscribe_command(1, "a", "s"), subscribe_command(1, "a", "t"),
       unsubscribe_command(1, "s", 2));
  for (const char* payload : {"1", "2", "3"}) obey(publish_command("a", payload));
  EXPECT_EQ(messages(), (Strings{"1/s:1", "1/t:1", "1/s:2", "1/t:2", "1/t:3"}));
  obey(unsubscribe_command(1, "t"), unsubscribe_command(1, "t"), unsubscribe_command(9, "t"),
       publish_command("a", "4"));
  EXPECT_EQ(messages().size(), 5u);
  EXPECT_EQ(desk->subscriptions(), 0u);
}

TEST_F(DeskTest, EndsASubscriptionThatHasHadItsMessagesAlready) {
  obey(subscribe_command(1, "a", "s"), publish_command("a", "1"), publish_command("a", "2"));
  obey(unsubscribe_command(1, "s", 2), publish_command("a", "3"));
  EXPECT_EQ(messages(), (Strings{"1/s:1", "1/s:2"}));
}

TEST_F(DeskTest, DoesNotEchoToWhoDoesNotWantIt) {
  Command silent = subscribe_command(1, "a", "s");
  silent.echo = false;
  Command own = publish_command("a", "own");
  own.message.origin = 1;
  obey(std::move(silent), subscribe_command(2, "a", "t"), std::move(own),
       publish_command("a", "other"));
  EXPECT_EQ(messages(), (Strings{"1/s:other", "2/t:own", "2/t:other"}));
}

TEST_F(DeskTest, TellsARequestThatNobodyListens) {
  obey(subscribe_command(1, "_INBOX.1.*", "r"), publish_command("service", "?", "_INBOX.1.x"));
  ASSERT_EQ(messages(), Strings{"1/r:"});
  auto told = std::ranges::find(replies, Reply::Kind::kMessage, &Reply::kind);
  EXPECT_EQ(told->subject, "_INBOX.1.x");
  EXPECT_EQ(told->extras->headers, kNoResponders);

  replies.clear();
  Command deaf = publish_command("service", "?", "_INBOX.1.x");
  deaf.tell_no_responders = false;
  obey(std::move(deaf));
  EXPECT_EQ(messages(), Strings{});
}

TEST_F(DeskTest, CarriesTheReplySubjectToTheResponder) {
  obey(subscribe_command(2, "service", "s"), subscribe_command(1, "_INBOX.1", "r"),
       publish_command("service", "?", "_INBOX.1"));
  ASSERT_EQ(messages(), Strings{"2/s:?"});
  obey(publish_command("_INBOX.1", "!"));
  EXPECT_EQ(messages(), (Strings{"2/s:?", "1/r:!"}));
}

TEST_F(DeskTest, RefusesTooManySubscriptions) {
  std::vector<Command> many;
  for (size_t i = 0; i <= limits::kSubscriptionsMax; ++i) {
    many.push_back(subscribe_command(1, "a." + std::to_string(i), std::to_string(i)));
  }
  desk->obey(std::move(many));
  loop.run_ready();
  EXPECT_EQ(desk->subscriptions(), limits::kSubscriptionsMax);
  ASSERT_EQ(count(Reply::Kind::kError), 1u);
  EXPECT_EQ(std::ranges::find(replies, Reply::Kind::kError, &Reply::kind)->text,
            "Maximum Subscriptions Exceeded");
}

TEST_F(DeskTest, LetsASubscriptionKeepItsName) {
  obey(subscribe_command(1, "a", "s"), subscribe_command(1, "b", "s"), publish_command("a", "1"),
       publish_command("b", "2"));
  EXPECT_EQ(messages(), Strings{"1/s:1"});
}

TEST_F(DeskTest, GivesUpAClientThatDoesNotKeepUp) {
  obey(subscribe_command(1, "a", "s"));
  backlog->set_unsent(limits::kUnsentBytesMax + 1);
  obey(publish_command("a", "1"), publish_command("a", "2"));
  EXPECT_EQ(count(Reply::Kind::kSlow), 1u);
  EXPECT_EQ(messages(), Strings{});
  EXPECT_EQ(desk->clients(), 0u);
  expect_told(publish_now("a", "3"), Published::kRefused);
}

TEST_F(DeskTest, CountsWhatIsOnItsWayToAClient) {
  obey(subscribe_command(1, "a", "s"), publish_command("a", std::string(1000, 'x')));
  EXPECT_GE(backlog->bytes(), 1000u);
  EXPECT_EQ(*total, backlog->bytes());
  for (const Reply& reply : replies) {
    if (reply.kind == Reply::Kind::kMessage) backlog->end_transit(reply.cost);
  }
  EXPECT_EQ(*total, 0u);
}

// --- Durable subjects ----------------------------------------------------------------------------

class DurableDeskTest : public DeskTest {
 protected:
  DurableDeskTest() { obey(subscribe_command(1, "_INBOX.>", "r")); }
  std::string submit(std::string payload, std::string id = {}) {
    replies.clear();
    obey(publish_command(std::string(bus::kSubmitSubject), std::move(payload), "_INBOX.1",
                         std::move(id)));
    Strings got = messages();
    return got.empty() ? "" : got[0].substr(4);
  }
  Subscriber scheduler;
};

TEST_F(DurableDeskTest, AcknowledgesAfterTheHandler) {
  scheduler.hold = true;
  auto subscription = subscribe(bus::kSubmitSubject, bus::kSchedulerQueue, scheduler);
  EXPECT_EQ(submit("job"), "");
  EXPECT_EQ(desk->in_hand(), 1u);
  EXPECT_EQ(count(Reply::Kind::kDone), 0u);
  scheduler.answer_all();
  loop.run_ready();
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_EQ(messages()[0], "1/r:{\"stream\":\"CORDUM_SYS\",\"seq\":" +
                               std::to_string(scheduler.got[0].sequence.value()) + "}");
  EXPECT_EQ(count(Reply::Kind::kDone), 1u);
}

TEST_F(DurableDeskTest, SaysThatAMessageIdWasSeenBefore) {
  auto subscription = subscribe(bus::kSubmitSubject, bus::kSchedulerQueue, scheduler);
  const std::string first = submit("job", "id-1");
  const std::string again = submit("job", "id-1");
  EXPECT_EQ(again, first.substr(0, first.size() - 1) + ",\"duplicate\":true}");
  EXPECT_EQ(scheduler.got.size(), 1u);
}

TEST_F(DurableDeskTest, SaysThatAMessageWasNotTaken) {
  scheduler.hold = true;
  auto subscription =
      subscribe(bus::kSubmitSubject, bus::kSchedulerQueue, scheduler, {.in_flight_max = 1});
  publish_now(bus::kSubmitSubject, "running");
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) publish(bus::kSubmitSubject, "w");
  EXPECT_EQ(submit("one too many"),
            R"({"error":{"code":503,"description":"not taken: try again later"},)"
            R"("stream":"CORDUM_SYS","seq":0})");
}

TEST_F(DurableDeskTest, IsDurableAlsoWithoutAReply) {
  obey(publish_command(std::string(bus::kResultSubject), "result"));
  EXPECT_EQ(bus->counters().queued, 1u) << "nobody had joined, so the store has it";
  auto subscription = subscribe(bus::kResultSubject, bus::kSchedulerQueue, scheduler);
  loop.run_ready();
  EXPECT_EQ(scheduler.payloads(), Strings{"result"});
}

TEST_F(DurableDeskTest, TriesAgainForWhoDoesNotWaitForAnAnswer) {
  scheduler.hold = true;
  auto subscription =
      subscribe(bus::kResultSubject, bus::kSchedulerQueue, scheduler, {.in_flight_max = 1});
  publish_now(bus::kResultSubject, "running");
  for (size_t i = 0; i < limits::kSubscriptionQueueMax; ++i) publish(bus::kResultSubject, "w");
  loop.run_ready();
  obey(publish_command(std::string(bus::kResultSubject), "mine"));
  EXPECT_EQ(desk->in_hand(), 1u);
  scheduler.hold = false;
  scheduler.answer_all();
  loop.run_for(limits::kRetryBusy * 2);
  EXPECT_EQ(desk->in_hand(), 0u);
  EXPECT_EQ(scheduler.got.back().payload, "mine");
}

TEST_F(DurableDeskTest, LetsRemoteGroupsOverhearAndTakeNothingAway) {
  auto subscription = subscribe(bus::kSubmitSubject, bus::kSchedulerQueue, scheduler);
  obey(subscribe_command(2, std::string(bus::kSubmitSubject), "s",
                         std::string(bus::kSchedulerQueue)));
  for (const char* job : {"1", "2", "3"}) submit(job);
  EXPECT_EQ(scheduler.payloads(), (Strings{"1", "2", "3"}));
}

TEST_F(DeskTest, RefusesTooManySubscriptionsOfAllClientsTogether) {
  desk = std::make_unique<Desk>(
      loop, *bus, log,
      [this](std::vector<Reply> batch) {
        for (Reply& reply : batch) replies.push_back(std::move(reply));
      },
      2);
  obey(subscribe_command(1, "a", "s"), subscribe_command(2, "a", "s"),
       subscribe_command(3, "a", "s"));
  EXPECT_EQ(desk->subscriptions(), 2u);
  ASSERT_EQ(count(Reply::Kind::kError), 1u);
  EXPECT_EQ(std::ranges::find(replies, Reply::Kind::kError, &Reply::kind)->client, 3u);
  obey(unsubscribe_command(1, "s"), subscribe_command(3, "b", "s"));
  EXPECT_EQ(desk->subscriptions(), 2u) << "there is room again";
  EXPECT_EQ(count(Reply::Kind::kError), 1u);
}

}  // namespace
}  // namespace fairlead::edge::nats
