#include "tests/cluster/meter.h"

#include <chrono>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/load/nats_client.h"
#include "tests/load/reactor.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;

const RedisServerProcess::Words kThreeWrites = {
    "EVAL", "for i = 1, 3 do redis.call('SET', KEYS[i], 'x') end", "3", "a", "b", "c"};

TEST(Meter, CountsCommandsInsideOfScriptsToo) {
  RedisServerProcess redis;
  const uint64_t before = commands_run(redis);
  redis.ask(kThreeWrites);
  EXPECT_EQ(commands_run(redis) - before, 4u);
}

TEST(Meter, TellsWhatRedisAndStreamsHold) {
  RedisServerProcess redis;
  const uint64_t before = memory_used(redis);
  redis.ask({"SET", "large", std::string(1 << 20, 'x')});
  EXPECT_GE(memory_used(redis), before + (1 << 20));

  NatsServerProcess nats;
  EXPECT_EQ(stream_bytes(nats), 0u);
  load::Reactor context;
  load::NatsClient client(context, "meter");
  ASSERT_TRUE(client.connect(nats.port()));
  client.publish("$JS.API.STREAM.CREATE.S", R"({"name":"S","subjects":["s"],"storage":"file"})");
  const auto patience = std::chrono::steady_clock::now() + 10s;
  while (stream_bytes(nats) < 1000 && std::chrono::steady_clock::now() < patience) {
    client.publish("s", std::string(1000, 'x'));
    context.run_for(20ms);
  }
  EXPECT_GE(stream_bytes(nats), 1000u);
}

TEST(Meter, CountsAScriptAsOneCall) {
  RedisServerProcess redis;
  load::Reactor context;
  RedisTap tap(context, redis.port());
  const auto patience = std::chrono::steady_clock::now() + 10s;
  auto run_until_seen = [&](std::string_view wanted) {
    while (!tap.last().contains(wanted) && std::chrono::steady_clock::now() < patience) {
      context.run_for(5ms);
    }
  };
  redis.ask_until({"CLIENT", "LIST"}, "cmd=monitor");
  redis.ask({"GET", "first"});
  run_until_seen("first");
  const uint64_t before = tap.calls();
  redis.ask(kThreeWrites);
  redis.ask({"GET", "last"});
  run_until_seen("last");
  EXPECT_EQ(tap.calls() - before, 2u);
}

TEST(Meter, TellsTheProcessorTimeOfAProcess) {
  const double before = cpu_seconds(::getpid());
  const auto began = std::chrono::steady_clock::now();
  double spent = 0;
  while (spent < 0.05 && std::chrono::steady_clock::now() - began < 10s) {
    spent = cpu_seconds(::getpid()) - before;
  }
  EXPECT_GE(spent, 0.05);
}

}  // namespace
}  // namespace fairlead::cluster
