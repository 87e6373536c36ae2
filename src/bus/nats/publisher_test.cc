// Publishing over a real connection to a real server.
#include "bus/nats/publisher.h"

#include <gmock/gmock.h>

#include "bus/nats/real_loop_fixture.h"
#include "tests/cluster/nats_server_process.h"

namespace fairlead::bus::nats {
namespace {

using cluster::NatsServerProcess;
using testing::HasSubstr;

constexpr std::string_view kStream =
    R"({"name":"S","subjects":["s.>"],"storage":"file","num_replicas":1,
        "duplicate_window":120000000000,"max_msg_size":100000})";

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    Settings settings;
    settings.servers = {server.url()};
    link.emplace(loop.loop(), settings,
                 Link::Callbacks{
                     .arrived = [this](Arrival arrival) { arrived(std::move(arrival)); },
                     .connected = [this] { ++connections; },
                     .lost = [this](const std::string&) { replies.lost(); },
                     .complained = [](const std::string&) {},
                 });
    inbox = link->listen(replies.pattern(), "", Link::Care::kKeepAll);
    link->open();
    EXPECT_TRUE(loop.run_until([this] { return link->connected(); }));
  }

  void arrived(Arrival arrival) {
    if (arrival.listener == inbox) {
      replies.arrived(std::move(arrival));
    } else {
      heard.push_back(std::move(arrival));
    }
  }
  std::string ask(std::string subject, std::string_view body) {
    std::string answer;
    (void)link->send({subject, body,
                      replies.expect([&](Reply reply) { answer = reply.message.payload + "!"; })});
    loop.run_until([&] { return !answer.empty(); });
    return answer;
  }
  void make_stream() { EXPECT_THAT(ask("$JS.API.STREAM.CREATE.S", kStream), HasSubstr("config")); }
  Result<Published> publish(std::string subject, std::string payload, std::string id = {},
                            Publisher::To to = Publisher::To::kStream) {
    return loop.wait(publisher->publish(subject, std::move(payload), std::move(id), to));
  }
  uint64_t stored() {
    const std::string info = ask("$JS.API.STREAM.INFO.S", "");
    return std::stoull(info.substr(info.find("\"messages\":") + 11));
  }

  NatsServerProcess server;
  RealLoop loop;
  Replies replies{loop.loop(), "_INBOX.test."};
  std::optional<Link> link;
  uint64_t inbox = 0;
  int connections = 0;
  std::vector<Arrival> heard;
  std::optional<Publisher> publisher{std::in_place, loop.loop(), *link, replies};
};

TEST_F(PublisherTest, IsAnsweredByTheStream) {
  make_stream();
  EXPECT_EQ(publish("s.a", "payload"), Published::kStored);
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(publisher->in_flight(), 0u);
}

TEST_F(PublisherTest, CountsARepeatedIdAsStored) {
  make_stream();
  EXPECT_EQ(publish("s.a", "payload", "id"), Published::kStored);
  EXPECT_EQ(publish("s.a", "payload", "id"), Published::kStored);
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(publisher->counters().duplicates, 1u);
}

TEST_F(PublisherTest, IsRefusedAfterTwoMoreTriesWhenNoStreamListens) {
  const MonotonicTime before = loop.loop().now();
  EXPECT_EQ(publish("s.a", "payload"), Published::kRefused);
  EXPECT_GE(loop.loop().now() - before, 2 * limits::kNoRespondersRetry);
  EXPECT_EQ(publisher->counters().retried, 2u);
  EXPECT_THAT(publisher->refusal(), HasSubstr("no stream"));
}

TEST_F(PublisherTest, IsStoredWhenTheStreamComesBetweenTwoTries) {
  auto answer = publisher->publish("s.a", "payload", {}, Publisher::To::kStream);
  loop.run_until([&] { return publisher->counters().retried == 1; });
  make_stream();
  EXPECT_EQ(loop.wait(std::move(answer)), Published::kStored);
}

TEST_F(PublisherTest, IsRefusedWhenTheStreamSaysWhy) {
  make_stream();
  EXPECT_EQ(publish("s.a", std::string(200'000, 'x')), Published::kRefused);
  EXPECT_THAT(publisher->refusal(), HasSubstr("10054"));
  EXPECT_EQ(publish("s.a", "small"), Published::kStored);
  EXPECT_EQ(publisher->refusal(), "") << "it takes messages again";
}

TEST_F(PublisherTest, IsUnknownWhenTheStreamRefusesWhatOthersMayHaveHeard) {
  make_stream();
  const std::string large(200'000, 'x');
  link->listen("s.a", "", Link::Care::kMayDrop);
  EXPECT_EQ(publish("s.a", large, {}, Publisher::To::kStreamAndListeners), Published::kUnknown);
  EXPECT_THAT(publisher->refusal(), HasSubstr("10054"));
  loop.run_until([&] { return !heard.empty(); });
  EXPECT_EQ(heard.size(), 1u) << "the worker has it";
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(publish("s.a", "small", {}, Publisher::To::kStreamAndListeners), Published::kStored);
}

TEST_F(PublisherTest, IsNotAcceptedWhenInvalidOrTooLarge) {
  EXPECT_EQ(publish("s.*", "x").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(publish("s.a", std::string(limits::kPacketBytesMax + 1, 'x')).error().code,
            ErrorCode::kInvalid);
  // With its header it is larger than the server takes.
  EXPECT_EQ(publish("s.a", std::string(limits::kPacketBytesMax, 'x'), "id").error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(publisher->in_flight(), 0u);
}

TEST_F(PublisherTest, ReachesAListener) {
  link->listen("a.b", "", Link::Care::kMayDrop);
  EXPECT_EQ(publish("a.b", "x", {}, Publisher::To::kListeners), Published::kStored);
  loop.run_until([&] { return !heard.empty(); });
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].subject, "a.b");
  EXPECT_EQ(heard[0].payload, "x");
}

TEST_F(PublisherTest, IsRefusedAtOnceWhenNobodyListens) {
  EXPECT_EQ(publish("a.b", "x", {}, Publisher::To::kListeners), Published::kRefused);
  EXPECT_EQ(publisher->counters().retried, 0u);
}

TEST_F(PublisherTest, FencesAllThatIsSentInOneTurnTogether) {
  link->listen("a.*", "", Link::Care::kMayDrop);
  std::vector<Future<Result<Published>>> answers;
  for (int i = 0; i < 100; ++i) {
    answers.push_back(
        publisher->publish(i % 2 == 0 ? "a.b" : "nobody", "x", {}, Publisher::To::kListeners));
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(loop.wait(std::move(answers[i])),
              i % 2 == 0 ? Published::kStored : Published::kRefused);
  }
}

TEST_F(PublisherTest, IsUnknownWhenTheServerIsKilledBeforeItAnswers) {
  make_stream();
  server.freeze();
  auto to_stream = publisher->publish("s.a", "payload", "id", Publisher::To::kStream);
  auto to_listener = publisher->publish("s.b", "payload", {}, Publisher::To::kListeners);
  loop.run_for(100ms);
  server.kill();
  EXPECT_EQ(loop.wait(std::move(to_stream), 2s), Published::kUnknown);
  EXPECT_EQ(loop.wait(std::move(to_listener), 2s), Published::kUnknown);
}

TEST_F(PublisherTest, IsUnknownWhenNoAnswerComesInTime) {
  make_stream();
  server.freeze();
  const MonotonicTime before = loop.loop().now();
  auto answer = publisher->publish("s.a", "payload", "id", Publisher::To::kStream);
  EXPECT_EQ(loop.wait(std::move(answer), 10s), Published::kUnknown);
  EXPECT_GE(loop.loop().now() - before, limits::kNatsAnswerWait);
  server.thaw();
  // It was stored in the end: unknown is the honest answer.
  while (stored() == 0) continue;
  EXPECT_EQ(publish("s.a", "payload", "id"), Published::kStored);
  EXPECT_EQ(publisher->counters().duplicates, 1u);
}

TEST_F(PublisherTest, IsRefusedWhileThereIsNoConnection) {
  server.kill();
  EXPECT_TRUE(loop.run_until([&] { return !link->connected(); }));
  EXPECT_EQ(publish("s.a", "payload"), Published::kRefused);
}

TEST_F(PublisherTest, PushesBackWhenTooManyAreWithoutAnswerAndNeverBlocks) {
  make_stream();
  server.freeze();
  std::vector<Future<Result<Published>>> answers;
  const std::string payload(1000, 'x');
  for (size_t i = 0; i < limits::kPublishesInFlightMax; ++i) {
    answers.push_back(publisher->publish("s.a", payload, {}, Publisher::To::kStream));
    ASSERT_FALSE(answers.back().await_ready());
  }
  EXPECT_EQ(publish("s.a", payload), Published::kRefused);
  server.thaw();
  for (auto& answer : answers) EXPECT_EQ(loop.wait(std::move(answer)), Published::kStored);
  EXPECT_EQ(stored(), limits::kPublishesInFlightMax);
}

TEST_F(PublisherTest, PushesBackWhenTooManyBytesAreWithoutAnswer) {
  make_stream();
  server.freeze();
  const std::string payload(limits::kPacketBytesMax / 2, 'x');
  std::vector<Future<Result<Published>>> answers;
  while (answers.size() < limits::kPublishBytesInFlightMax / payload.size()) {
    answers.push_back(publisher->publish("s.a", payload, {}, Publisher::To::kStream));
    ASSERT_FALSE(answers.back().await_ready());
  }
  EXPECT_EQ(publish("s.a", payload), Published::kRefused);
  server.thaw();
}

TEST_F(PublisherTest, GoesOnAfterTheServerWasKilledAndStartedAgain) {
  make_stream();
  EXPECT_EQ(publish("s.a", "before"), Published::kStored);
  server.kill();
  EXPECT_TRUE(loop.run_until([&] { return !link->connected(); }));
  server.start();
  EXPECT_TRUE(loop.run_until([&] { return link->connected(); }));
  EXPECT_EQ(connections, 2);
  EXPECT_EQ(publish("s.a", "after"), Published::kStored);
  EXPECT_EQ(stored(), 2u);
}

}  // namespace
}  // namespace fairlead::bus::nats
