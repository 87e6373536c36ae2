#include "app/redis_watch.h"

#include <gmock/gmock.h>

#include "store/contract/pump_loop.h"
#include "tests/cluster/redis_server_process.h"

namespace fairlead::app {
namespace {

using store::redis::ServerSettings;
using testing::HasSubstr;

TEST(DurabilitySentence, SaysWhatACrashMayLose) {
  ServerSettings settings;
  settings.append_only = false;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("since its last snapshot is lost"));
  settings.append_only = true;
  settings.append_sync = "always";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("before it acknowledges"));
  settings.append_sync = "everysec";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("may lose the last one"));
  settings.append_sync = "no";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("leaves it to the system"));
}

TEST(DurabilitySentence, SaysWhatAFailoverMayLose) {
  ServerSettings settings;
  settings.replicas_min = 0;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("a failover may lose"));
  settings.replicas_min = 1;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("needs 1 replica to take writes"));
}

// Everything that is stored goes by the server's clock: who has learnt that one may do its work,
// whatever the machine's shows.
TEST(RedisWatch, AMachineWhoseClockIsWrongIsToldOfAndGoesByTheClockOfRedis) {
  using namespace std::chrono_literals;
  cluster::RedisServerProcess server;
  store::PumpLoop loop;
  store::ManualClock clock;  // years behind
  NoLog log;
  store::redis::RedisOptions options;
  options.url = server.url();
  auto store = store::redis::RedisStore::open(options, loop, clock, log);
  ASSERT_TRUE(store) << store.error().message;
  std::vector<std::pair<Duration, Duration>> told;
  RedisWatch watch(loop, clock, **store, log,
                   [&](Duration machine, Duration in_use) { told.emplace_back(machine, in_use); });
  Nursery nursery;
  nursery.spawn(watch.keep_comparing());
  loop.run_until([&] { return told.size() == 1; });
  EXPECT_LT(told[0].second, -limits::kClockOffsetMax) << "before it has learnt any other";
  ASSERT_TRUE(loop.wait((*store)->sign_of_life("one.n")));
  loop.advance(10s);
  loop.run_until([&] { return told.size() == 2; });
  EXPECT_LT(told[1].first, -limits::kClockOffsetMax);
  EXPECT_LT(std::chrono::abs(told[1].second), limits::kClockOffsetMax);
  nursery.drop();
}

}  // namespace
}  // namespace fairlead::app
