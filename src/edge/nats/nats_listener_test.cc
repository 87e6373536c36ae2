// The listener over real sockets: two threads, batches, limits, the end.
#include "edge/nats/nats_listener.h"

#include <future>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "edge/net/raw_client_fixture.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "store/memory/memory_store.h"

namespace fairlead::edge {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kQuiet = "CONNECT {\"verbose\":false,\"headers\":true}\r\n";

class NatsListenerTest : public testing::Test {
 protected:
  void start(NatsOptions options = {}) {
    options.port = 0;
    thread = std::thread([this] { loop.run(); });
    on_loop([&] { tasks.spawn(start_bus()); });
    on_loop([&] {
      listener.emplace(NatsListener::Plugs{loop, clock, random, bus, log}, std::move(options));
      ASSERT_TRUE(listener->start());
      port = listener->port();
    });
  }
  ~NatsListenerTest() override {
    if (!thread.joinable()) return;
    on_loop([&] {
      listener.reset();
      tasks.drop();
      bus.drop();
    });
    loop.stop();
    thread.join();
  }

  Task<void> start_bus() { EXPECT_TRUE(co_await bus.start()); }

  // Runs it on the loop and waits for it.
  template <class Body>
  void on_loop(Body body) {
    std::promise<void> done;
    loop.post([&] {
      body();
      done.set_value();
    });
    done.get_future().wait();
  }
  // Starts a task on the loop; the future is ready when it has ended.
  std::future<void> spawn(Task<void> task) {
    auto done = std::make_shared<std::promise<void>>();
    auto finish = [](Task<void> inner, std::shared_ptr<std::promise<void>> told) -> Task<void> {
      co_await std::move(inner);
      told->set_value();
    };
    on_loop([&] { tasks.spawn(finish(std::move(task), done)); });
    return done->get_future();
  }

  SystemClock clock;
  SystemRandom random;
  NoLog log;
  AsioLoop loop;
  store::MemoryStore store{clock};
  bus::LocalBus bus{loop, clock, store};
  Nursery tasks;
  std::optional<NatsListener> listener;
  std::thread thread;
  uint16_t port = 0;
};

TEST_F(NatsListenerTest, CarriesMessagesFromClientToClient) {
  start();
  RawClient taker(port), giver(port);
  EXPECT_TRUE(taker.line().starts_with("INFO {"));
  taker.send(std::string(kQuiet) + "SUB a.* 1\r\nPING\r\n");
  EXPECT_EQ(taker.line(), "PONG\r\n");
  giver.line();
  giver.send(std::string(kQuiet) + "PUB a.b 2\r\nhi\r\nPUB x 1\r\nx\r\nPUB a.c 0\r\n\r\nPING\r\n");
  EXPECT_EQ(giver.line(), "PONG\r\n");
  EXPECT_EQ(taker.until("hi\r\n"), "MSG a.b 1 2\r\nhi\r\n");
  EXPECT_EQ(taker.until("\r\n\r\n"), "MSG a.c 1 0\r\n\r\n");
}

TEST_F(NatsListenerTest, GetsItsLastWordsThroughToWhoStillSends) {
  start();
  RawClient client(port);
  client.line();
  client.send("NONSENSE\r\n" + std::string(100'000, 'x'));
  EXPECT_EQ(client.rest(), "-ERR 'Unknown Protocol Operation'\r\n");
}

TEST_F(NatsListenerTest, ForgetsTheSubscriptionsOfWhoHasGone) {
  start();
  {
    RawClient client(port);
    client.line();
    client.send(std::string(kQuiet) + "SUB worker.w.jobs 1\r\nPING\r\n");
    EXPECT_EQ(client.line(), "PONG\r\n");
    on_loop([&] { EXPECT_EQ(listener->subscriptions(), 1u); });
  }
  auto subscriptions = [&] {
    size_t count = 0;
    on_loop([&] { count = listener->subscriptions(); });
    return count;
  };
  while (subscriptions() > 0) std::this_thread::yield();
  on_loop([&] {
    auto published = bus.publish("worker.w.jobs", "job", {});
    EXPECT_EQ(*published.await_resume(), bus::Published::kRefused);
  });
}

TEST_F(NatsListenerTest, TurnsAwayConnectionsBeyondItsLimit) {
  start({.connections_max = 2});
  RawClient first(port), second(port);
  first.line();
  second.line();
  RawClient third(port);
  EXPECT_EQ(third.rest(), "-ERR 'Maximum Connections Exceeded'\r\n");
  first.send("PING\r\n");
  EXPECT_EQ(first.line(), "PONG\r\n");
}

TEST_F(NatsListenerTest, MovesMoreThanFitsIntoSocketsAtOnce) {
  start();
  RawClient taker(port, 4096), giver(port);
  taker.line();
  taker.send(std::string(kQuiet) + "SUB big 1\r\nPING\r\n");
  taker.line();
  giver.line();
  giver.send(kQuiet);
  const std::string payload(200'000, 'x');
  constexpr int kMessages = 40;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(giver.send("PUB big 200000\r\n" + payload + "\r\n"));
  }
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(taker.line(), "MSG big 1 200000\r\n") << i;
    ASSERT_EQ(taker.line(), payload + "\r\n");
  }
}

TEST_F(NatsListenerTest, CutsOffAClientThatDoesNotRead) {
  start();
  RawClient taker(port, 4096), giver(port);
  taker.line();
  taker.send(std::string(kQuiet) + "SUB big 1\r\nPING\r\n");
  taker.line();
  giver.line();
  giver.send(kQuiet);
  const std::string message = "PUB big 1000000\r\n" + std::string(1'000'000, 'x') + "\r\n";
  auto subscriptions = [&] {
    size_t count = 0;
    on_loop([&] { count = listener->subscriptions(); });
    return count;
  };
  for (int i = 0; i < 1000 && subscriptions() > 0; ++i) ASSERT_TRUE(giver.send(message));
  EXPECT_EQ(subscriptions(), 0u);
  giver.send("PING\r\n");
  EXPECT_EQ(giver.line(), "PONG\r\n") << "the others go on";
}

TEST_F(NatsListenerTest, PingsAndGivesUpWhoIsSilent) {
  start({.ping_every = 1ms, .tick_every = 1ms});
  RawClient client(port);
  client.line();
  EXPECT_EQ(client.rest(), "PING\r\nPING\r\n-ERR 'Stale Connection'\r\n");
}

TEST_F(NatsListenerTest, StopsWhenWhatItWasSentIsDoneAndTold) {
  start();
  std::optional<Completer<Result<void>>> hold;
  std::promise<void> running;
  std::unique_ptr<bus::Subscription> subscription;
  on_loop([&] {
    hold.emplace();
    subscription = *bus.subscribe(std::string(bus::kSubmitSubject),
                                  {.queue = std::string(bus::kSchedulerQueue)},
                                  [&](bus::Delivery) -> Task<bus::Verdict> {
                                    running.set_value();
                                    (void)co_await hold->future();
                                    co_return bus::Verdict::ack();
                                  });
  });
  RawClient client(port);
  client.line();
  client.send(std::string(kQuiet) + "SUB r 1\r\nPUB sys.job.submit r 3\r\njob\r\n");
  running.get_future().wait();
  std::future<void> stopped = spawn(listener->stop(20s));
  on_loop([&] { hold->complete({}); });
  EXPECT_TRUE(client.rest().find("{\"stream\":\"CORDUM_SYS\",\"seq\":") != std::string::npos);
  ::shutdown(client.socket(), SHUT_RDWR);
  stopped.wait();
  on_loop([&] { subscription.reset(); });
  EXPECT_FALSE(RawClient(port).connected());
}

TEST_F(NatsListenerTest, DoesNotServeStrangersWithoutCredentials) {
  NatsListener open({loop, clock, random, bus, log}, {.address = "0.0.0.0", .port = 0});
  Result<void> started = open.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("can be reached by others"), std::string::npos);
  NatsListener closed({loop, clock, random, bus, log},
                      {.address = "0.0.0.0", .port = 0, .credentials = {.token = "t"}});
  EXPECT_TRUE(closed.start());
}

TEST_F(NatsListenerTest, NamesAnAddressThatIsTaken) {
  start();
  NatsListener second({loop, clock, random, bus, log}, {.port = port});
  Result<void> started = second.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST_F(NatsListenerTest, HoldsManyIdleConnectionsForLittle) {
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 400; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    ASSERT_TRUE(clients.back()->line().starts_with("INFO"));
    clients.back()->send(std::string(kQuiet) + "SUB worker." + std::to_string(i) + ".jobs 1\r\n");
  }
  for (auto& client : clients) {
    client->send("PING\r\n");
    ASSERT_EQ(client->line(), "PONG\r\n");
  }
  on_loop([&] { EXPECT_EQ(listener->subscriptions(), 400u); });
}

}  // namespace
}  // namespace fairlead::edge
