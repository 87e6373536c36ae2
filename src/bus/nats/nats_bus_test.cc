// What the bus on NATS does beyond the contract of every bus.
#include "bus/nats/nats_bus.h"

#include <set>

#include <gmock/gmock.h>

#include "bus/contract/bus_world.h"
#include "bus/nats/admin_fixture.h"
#include "bus/nats/nats_bus_fixture.h"
#include "bus/nats/topology.h"

namespace fairlead::bus::nats {
namespace {

namespace json = boost::json;
using cluster::NatsServerProcess;
using testing::HasSubstr;

constexpr std::string_view kDurable = "dur_cordum-scheduler__sys_job_submit";

class NatsBusTest : public testing::Test {
 protected:
  std::unique_ptr<Process> process(Settings settings) {
    auto made = std::make_unique<Process>(loop, std::move(settings));
    auto started = made->start();
    EXPECT_TRUE(started) << started.error().describe();
    return made;
  }
  std::unique_ptr<Process> process() { return process(with_jetstream(server)); }

  std::unique_ptr<Subscription> consume(Process& at, Listener& listener,
                                        SubscribeOptions options = {}) {
    auto bound = at.bind(kSubmitSubject);
    EXPECT_TRUE(bound) << bound.error().describe();
    options.queue = kSchedulerQueue;
    auto made =
        at.bus->subscribe(std::string(kSubmitSubject), std::move(options), listener.handler());
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }
  Result<Published> publish(Process& at, std::string_view subject, std::string payload,
                            std::string id = {}) {
    return loop.wait(at.bus->publish(std::string(subject), std::move(payload), std::move(id)));
  }
  bool got(const Listener& listener, size_t count) {
    return loop.run_until([&] { return listener.got.size() >= count; });
  }
  Admin& admin() {
    if (!admin_) admin_.emplace(loop, server.url());
    return *admin_;
  }

  NatsServerProcess server;
  RealLoop loop;

 private:
  std::optional<Admin> admin_;
};

// --- Streams and durables ------------------------------------------------------------------------

TEST_F(NatsBusTest, MakesTheStreamsOfTheGoServices) {
  auto bus = process();
  auto config_of = [&](const char* stream) {
    return admin().ask(std::string("STREAM.INFO.") + stream).at("config");
  };
  EXPECT_EQ(config_of("CORDUM_SYS"), json::parse(R"({
      "name":"CORDUM_SYS","subjects":["sys.>"],"retention":"limits","max_consumers":-1,
      "max_msgs":-1,"max_bytes":-1,"max_age":604800000000000,"max_msgs_per_subject":-1,
      "max_msg_size":-1,"discard":"old","storage":"file","num_replicas":1,
      "duplicate_window":120000000000,"allow_direct":false,"mirror_direct":false,"sealed":false,
      "deny_delete":false,"deny_purge":false,"allow_rollup_hdrs":false})"));
  EXPECT_EQ(config_of("CORDUM_JOBS"), json::parse(R"({
      "name":"CORDUM_JOBS","subjects":["job.>","worker.*.jobs"],"retention":"limits",
      "max_consumers":-1,"max_msgs":-1,"max_bytes":-1,"max_age":604800000000000,
      "max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"old","storage":"file",
      "num_replicas":1,"duplicate_window":120000000000,"allow_direct":false,
      "mirror_direct":false,"sealed":false,"deny_delete":false,"deny_purge":false,
      "allow_rollup_hdrs":false})"));
}

TEST_F(NatsBusTest, MakesTheDurablesOfTheGoServices) {
  auto bus = process();
  EXPECT_TRUE(bus->bind(kSubmitSubject));
  EXPECT_TRUE(bus->bind(kResultSubject));
  for (std::string subject : {"submit", "result"}) {
    json::object config =
        admin()
            .ask("CONSUMER.INFO.CORDUM_SYS.dur_cordum-scheduler__sys_job_" + subject)
            .at("config")
            .as_object();
    EXPECT_THAT(text_at(config, "deliver_subject"), HasSubstr("_INBOX."));
    config.erase("deliver_subject");
    EXPECT_EQ(json::value(config),
              json::parse(R"({"durable_name":"dur_cordum-scheduler__sys_job_)" + subject +
                          R"(","name":"dur_cordum-scheduler__sys_job_)" + subject +
                          R"(","deliver_policy":"all","ack_policy":"explicit",
                          "ack_wait":600000000000,"max_deliver":100,
                          "filter_subject":"sys.job.)" +
                          subject +
                          R"(","replay_policy":"instant","max_ack_pending":2048,
                          "deliver_group":"cordum-scheduler","num_replicas":0})"));
  }
}

TEST_F(NatsBusTest, SharesADurableThatAGoServiceMade) {
  admin().ask("STREAM.CREATE.CORDUM_SYS", stream_config(kSystemStream, {}));
  const json::object config =
      consumer_config(kSubmitSubject, kSchedulerQueue, "_INBOX.of.go", Settings{});
  auto made = admin().ask("CONSUMER.DURABLE.CREATE.CORDUM_SYS." + std::string(kDurable),
                          {{"stream_name", "CORDUM_SYS"}, {"config", config}});
  ASSERT_FALSE(made.contains("error")) << json::serialize(made);

  auto bus = process();
  Listener scheduler;
  auto subscription = consume(*bus, scheduler);
  EXPECT_EQ(publish(*bus, kSubmitSubject, "job"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1));
  EXPECT_EQ(admin()
                .ask("CONSUMER.INFO.CORDUM_SYS." + std::string(kDurable))
                .at("config")
                .at("deliver_subject"),
            json::value("_INBOX.of.go"));
}

TEST_F(NatsBusTest, RefusesADurableOfOtherSettings) {
  admin().ask("STREAM.CREATE.CORDUM_SYS", stream_config(kSystemStream, {}));
  Settings other;
  other.ack_wait = 30s;
  admin().ask("CONSUMER.DURABLE.CREATE.CORDUM_SYS." + std::string(kDurable),
              {{"stream_name", "CORDUM_SYS"},
               {"config", consumer_config(kSubmitSubject, kSchedulerQueue, "_INBOX.x", other)}});
  auto bus = process();
  auto bound = bus->bind(kSubmitSubject);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(bound.error().message, HasSubstr("ack_wait 30000000000"));
  // It is still there, as it was.
  EXPECT_EQ(admin().consumer_number(kDurable, "config.ack_wait"), 30'000'000'000u);
}

TEST_F(NatsBusTest, RefusesAStreamOfOtherSettings) {
  json::object config = stream_config(kSystemStream, {});
  config["subjects"] = json::array{"sys.job.submit"};
  admin().ask("STREAM.CREATE.CORDUM_SYS", config);
  Process bus(loop, with_jetstream(server));
  auto started = bus.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(started.error().message, HasSubstr("subjects"));
}

TEST_F(NatsBusTest, NeedsADurableToBeBoundBeforeItIsSubscribedTo) {
  auto bus = process();
  auto made = bus->bus->subscribe(std::string(kSubmitSubject), {.queue = "q"}, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("dur_q__sys_job_submit is not bound"));
}

TEST_F(NatsBusTest, MakesADurableAgainThatAGoReplicaTookAway) {
  auto bus = process();
  Listener scheduler;
  auto subscription = consume(*bus, scheduler);
  publish(*bus, kSubmitSubject, "1");
  EXPECT_TRUE(got(scheduler, 1));
  admin().ask("CONSUMER.DELETE.CORDUM_SYS." + std::string(kDurable));
  EXPECT_EQ(publish(*bus, kSubmitSubject, "2"), Published::kStored);
  // It begins with the first message of the stream, which may come again.
  EXPECT_TRUE(loop.run_until([&] { return scheduler.got.back().payload == "2"; }));
}

TEST_F(NatsBusTest, FollowsADurableThatAnotherMadeAnew) {
  auto bus = process();
  Listener scheduler;
  auto subscription = consume(*bus, scheduler);
  admin().ask("CONSUMER.DELETE.CORDUM_SYS." + std::string(kDurable));
  admin().ask(
      "CONSUMER.DURABLE.CREATE.CORDUM_SYS." + std::string(kDurable),
      {{"stream_name", "CORDUM_SYS"},
       {"config", consumer_config(kSubmitSubject, kSchedulerQueue, "_INBOX.other", Settings{})}});
  EXPECT_EQ(publish(*bus, kSubmitSubject, "job"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1));
}

// --- Deliveries ----------------------------------------------------------------------------------

TEST_F(NatsBusTest, GivesTheSequenceAndTheTimeOfTheStream) {
  auto bus = process();
  Listener scheduler;
  auto subscription = consume(*bus, scheduler);
  publish(*bus, "sys.heartbeat", "not ours");
  publish(*bus, kSubmitSubject, "job", "some-id");
  ASSERT_TRUE(got(scheduler, 1));
  auto message = read_stored_message(admin().ask("STREAM.MSG.GET.CORDUM_SYS", {{"seq", 2}}));
  ASSERT_TRUE(message);
  EXPECT_EQ(scheduler.got[0].sequence, Sequence(2));
  EXPECT_EQ(scheduler.got[0].stored_at, message->stored_at);
  ASSERT_TRUE(scheduler.got[0].extras);
  EXPECT_EQ(header_in(scheduler.got[0].extras->headers, "Nats-Msg-Id"), "some-id");
}

TEST_F(NatsBusTest, SharesTheMessagesOfADurableBetweenProcesses) {
  auto first = process();
  auto second = process();
  Listener at_first, at_second;
  auto a = consume(*first, at_first);
  auto b = consume(*second, at_second);
  std::vector<Future<Result<Published>>> answers;
  for (int i = 0; i < 1000; ++i) {
    answers.push_back(
        first->bus->publish(std::string(kSubmitSubject), std::to_string(i), std::to_string(i)));
  }
  EXPECT_TRUE(loop.run_until([&] { return at_first.got.size() + at_second.got.size() >= 1000; }));
  loop.run_for(100ms);
  std::set<std::string> all;
  for (const Listener* each : {&at_first, &at_second}) {
    EXPECT_GT(each->got.size(), 100u);
    for (const std::string& payload : each->payloads()) all.insert(payload);
  }
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_EQ(at_first.got.size() + at_second.got.size(), 1000u);
}

TEST_F(NatsBusTest, KeepsASlowHandlersMessageBeyondAckWait) {
  Settings settings = with_jetstream(server);
  settings.ack_wait = 1s;
  auto first = process(settings);
  auto second = process(settings);
  Listener slow, other;
  slow.hold = true;
  auto a = consume(*first, slow);
  publish(*first, kSubmitSubject, "job");
  ASSERT_TRUE(got(slow, 1));
  auto b = consume(*second, other);
  loop.run_for(3s);
  EXPECT_EQ(slow.got.size(), 1u);
  EXPECT_EQ(other.got.size(), 0u);
  slow.answer_all();
  EXPECT_TRUE(loop.run_until(
      [&] { return first->bus->consumer(kSubmitSubject, kSchedulerQueue)->in_hands() == 0; }));
}

TEST_F(NatsBusTest, GoesToAnotherProcessAtOnceWhenItIsToEnd) {
  auto first = process();
  auto second = process();
  Listener at_first, at_second;
  at_first.hold = true;
  auto a = consume(*first, at_first, {.in_flight_max = 10});
  for (int i = 0; i < 500; ++i) {
    (void)first->bus->publish(std::string(kSubmitSubject), std::to_string(i), {});
  }
  ASSERT_TRUE(loop.run_until(
      [&] { return first->bus->consumer(kSubmitSubject, kSchedulerQueue)->in_hands() == 500; }));
  auto b = consume(*second, at_second);
  first->bus->cancel();
  loop.wait(first->bus->idle()).value();
  // The ten whose handlers were told to stop were acknowledged by these.
  EXPECT_TRUE(got(at_second, 490));
  EXPECT_EQ(publish(*first, kSubmitSubject, "late"), Published::kRefused);
}

TEST_F(NatsBusTest, GivesBackWhatIsOnItsWayWhenASubscriberLeaves) {
  auto first = process();
  auto second = process();
  Listener at_first, at_second;
  auto a = consume(*first, at_first);
  for (int i = 0; i < 300; ++i) {
    (void)second->bus->publish(std::string(kSubmitSubject), std::to_string(i), {});
  }
  ASSERT_TRUE(got(at_first, 100));
  a.reset();
  auto b = consume(*second, at_second);
  EXPECT_TRUE(loop.run_until([&] {
    std::set<std::string> all;
    for (const Listener* each : {&at_first, &at_second}) {
      for (const std::string& payload : each->payloads()) all.insert(payload);
    }
    return all.size() == 300;
  }));
}

TEST_F(NatsBusTest, GivesBackWhatIsOnItsWayWhenItIsToEnd) {
  auto first = process();
  auto second = process();
  Listener at_first, at_second;
  auto a = consume(*first, at_first);
  for (int i = 0; i < 300; ++i) {
    (void)second->bus->publish(std::string(kSubmitSubject), std::to_string(i), {});
  }
  ASSERT_TRUE(got(at_first, 100));
  first->bus->cancel();
  auto b = consume(*second, at_second);
  EXPECT_TRUE(loop.run_until([&] {
    std::set<std::string> all;
    for (const Listener* each : {&at_first, &at_second}) {
      for (const std::string& payload : each->payloads()) all.insert(payload);
    }
    return all.size() == 300;
  }));
}

TEST_F(NatsBusTest, DropsPlainMessagesForWhichThereIsNoRoom) {
  auto bus = process();
  Listener slow;
  slow.hold = true;
  auto subscription = *bus->bus->subscribe("x.a", {.in_flight_max = 1}, slow.handler());
  publish(*bus, "x.a", "running");
  ASSERT_TRUE(got(slow, 1));
  for (size_t sent = 0; sent < limits::kSubscriptionQueueMax + 10; ++sent) {
    admin().link().send({"x.a", "waiting"});
    if (sent % 1000 == 0) loop.run_for(1ms);
  }
  EXPECT_TRUE(loop.run_until([&] { return bus->bus->counters().dropped == 10; }));
}

// --- Without JetStream ---------------------------------------------------------------------------

TEST_F(NatsBusTest, UsesCoreNatsWhenJetStreamIsOff) {
  Settings settings = with_jetstream(server);
  settings.jetstream = false;
  auto bus = process(settings);
  Listener scheduler;
  scheduler.verdicts = {Verdict::nak(10ms, "means nothing")};
  EXPECT_EQ(publish(*bus, kSubmitSubject, "nobody"), Published::kRefused);
  EXPECT_EQ(publish(*bus, kDeadLetterSubject, "nobody"), Published::kStored);
  auto subscription = consume(*bus, scheduler);
  EXPECT_EQ(publish(*bus, kSubmitSubject, "1"), Published::kStored);
  EXPECT_EQ(publish(*bus, kSubmitSubject, "2"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 2));
  loop.run_for(100ms);
  EXPECT_EQ(scheduler.payloads(), (std::vector<std::string>{"1", "2"}));
  EXPECT_LT(scheduler.got[0].sequence, scheduler.got[1].sequence);
  EXPECT_TRUE(admin().ask("STREAM.INFO.CORDUM_SYS").contains("error"));
  EXPECT_FALSE(loop.wait(bus->bus->stored(std::string(kSubmitSubject), "x")).value().has_value());
}

TEST_F(NatsBusTest, KeepsWithoutJetStreamWhatCouldNotBeHandledNow) {
  Settings settings = with_jetstream(server);
  settings.jetstream = false;
  auto bus = process(settings);
  Listener scheduler, tap;
  scheduler.verdicts = {Verdict::not_now(50ms, "no store"), Verdict::not_now(50ms, "no store")};
  tap.verdicts = {Verdict::not_now(50ms, "who cares")};
  auto subscription = consume(*bus, scheduler);
  auto overhears = *bus->bus->subscribe(std::string(kSubmitSubject), {}, tap.handler());
  EXPECT_EQ(publish(*bus, kSubmitSubject, "1"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 3));
  EXPECT_EQ(scheduler.got[2].payload, "1");
  EXPECT_EQ(scheduler.got[2].deliveries, 3u);
  EXPECT_EQ(scheduler.got[2].sequence, scheduler.got[0].sequence);
  loop.run_for(100ms);
  EXPECT_EQ(scheduler.got.size(), 3u);
  EXPECT_EQ(tap.got.size(), 1u) << "only who works on it hears it again";
}

TEST_F(NatsBusTest, HandlesWhatIsOnItsWayBeforeItHasDrained) {
  for (bool jetstream : {false, true}) {
    Settings settings = with_jetstream(server);
    settings.jetstream = jetstream;
    auto bus = process(settings);
    std::set<std::string> handled;
    if (jetstream) ASSERT_TRUE(bus->bind(kResultSubject));
    auto subscription = *bus->bus->subscribe(
        std::string(kResultSubject), {.queue = std::string(kSchedulerQueue), .in_flight_max = 10},
        [&](Delivery delivery) -> Task<Verdict> {
          (void)co_await loop.loop().delay(1ms);
          handled.insert(delivery.payload);
          co_return Verdict::ack();
        });
    std::vector<Future<Result<Published>>> sent;
    for (int i = 0; i < 500; ++i) {
      sent.push_back(bus->bus->publish(std::string(kResultSubject), std::to_string(i), {}));
    }
    // By the server's word they are on their way, and none has arrived here.
    auto draining = [](NatsBus& draining_bus) -> Task<bool> {
      co_await draining_bus.drain(10s);
      co_return true;
    };
    EXPECT_TRUE(loop.wait(draining(*bus->bus)));
    size_t stored = 0;
    for (auto& answer : sent) stored += loop.wait(std::move(answer)) == Published::kStored;
    if (!jetstream) {
      EXPECT_EQ(handled.size(), 500u);
    } else {
      EXPECT_EQ(bus->bus->consumer(kResultSubject, kSchedulerQueue)->in_hands(), 0u);
    }
    EXPECT_EQ(stored, 500u);
  }
}

TEST_F(NatsBusTest, NamesEveryMessageOfADurableForTheStore) {
  auto bus = process();
  Listener scheduler, tap;
  auto subscription = consume(*bus, scheduler);
  auto overhears = *bus->bus->subscribe(std::string(kSubmitSubject), {}, tap.handler());
  publish(*bus, kSubmitSubject, "job");
  ASSERT_TRUE(got(scheduler, 1) && got(tap, 1));
  const Delivery& first = scheduler.got[0];
  EXPECT_EQ(first.mark, fmt::format("dur_cordum-scheduler__sys_job_submit:CORDUM_SYS:{}:{}",
                                    first.sequence.value(), to_micros(first.stored_at)));
  EXPECT_EQ(tap.got[0].mark, "");
}

TEST_F(NatsBusTest, UsesCoreNatsWhenTheServerHasNoJetStream) {
  NatsServerProcess plain({.jetstream = false});
  auto bus = process(with_jetstream(plain));
  EXPECT_FALSE(bus->bus->uses_jetstream());
  EXPECT_TRUE(bus->log.has("no JetStream"));
  EXPECT_THAT(bus->bus->durability().sentence(), HasSubstr("Without JetStream"));
  Listener scheduler;
  auto subscription = consume(*bus, scheduler);
  EXPECT_EQ(publish(*bus, kSubmitSubject, "1"), Published::kStored);
  EXPECT_TRUE(got(scheduler, 1));
}

// --- Starting ------------------------------------------------------------------------------------

TEST_F(NatsBusTest, TellsWhyItCannotStart) {
  server.kill();
  Process bus(loop, with_jetstream(server));
  auto started = bus.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(started.error().message, HasSubstr(server.url()));
}

TEST_F(NatsBusTest, TellsWhatAnAcknowledgementIsWorth) {
  Settings settings = with_jetstream(server);
  settings.monitor = server.monitor_url();
  auto bus = process(settings);
  const Durability& durability = bus->bus->durability();
  EXPECT_EQ(durability.version, "2.9.10");
  ASSERT_EQ(durability.streams.size(), 2u);
  EXPECT_EQ(durability.streams[0].name, "CORDUM_SYS");
  EXPECT_EQ(durability.streams[0].storage, "file");
  EXPECT_EQ(durability.streams[0].replicas, 1u);
  EXPECT_EQ(durability.sync_interval, std::nullopt);
  EXPECT_TRUE(bus->log.has(durability.sentence()));
}

TEST_F(NatsBusTest, StartsWithoutAnAnswerOfTheMonitoringPort) {
  Settings settings = with_jetstream(server);
  settings.monitor = server.url("http");  // it does not speak HTTP there
  auto bus = process(settings);
  EXPECT_TRUE(bus->log.has("does not tell its settings"));
  EXPECT_EQ(bus->bus->durability().version, "");
}

}  // namespace
}  // namespace fairlead::bus::nats
