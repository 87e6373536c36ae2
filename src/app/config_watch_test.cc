#include "app/config_watch.h"

#include <gmock/gmock.h>

#include "scheduler/packets.h"
#include "scheduler/replica_fixture.h"

namespace fairlead::app {
namespace {

using namespace std::chrono_literals;
using scheduler::FailMode;
using testing::HasSubstr;

// A replica's part of it: what is in force there.
struct Site {
  std::shared_ptr<const routing::PoolMap> pools;
  std::optional<Duration> running;
  std::optional<FailMode> mode;
  int reread = 0;
  std::unique_ptr<ConfigWatch> watch;
};

class ConfigWatchTest : public scheduler::ReplicaTest {
 protected:
  void SetUp() override { ASSERT_TRUE(run(bus_.start())); }
  ~ConfigWatchTest() override {
    tasks_.drop();
    bus_.drop();
  }

  static Task<Result<void>> take(Site& site, std::shared_ptr<const routing::PoolMap> map) {
    site.pools = std::move(map);
    co_return Result<void>{};
  }
  static Task<Result<void>> reread(Site& site) {
    ++site.reread;
    co_return Result<void>{};
  }
  void begin(Site& site, scheduler::OverlayFiles files = {}) {
    ConfigWatch::Use use{
        .pools = [&site](auto map) { return take(site, std::move(map)); },
        .timeouts = [&site](const auto& file) { site.running = file.timeouts.running; },
        .fail_mode = [&site](FailMode mode) { site.mode = mode; },
        .others = [&site] { return reread(site); }};
    site.watch = std::make_unique<ConfigWatch>(
        ConfigWatch::Plugs{loop_, clock_, store_, bus_, log_}, std::move(files), 30s, use);
    EXPECT_TRUE(run(site.watch->start()));
    tasks_.spawn(site.watch->keep_watching());
    loop_.run_ready();
  }
  std::string document() {
    auto blob = store_.blob(scheduler::kOverlayKey).await_resume();
    return blob && *blob ? (*blob)->bytes : "";
  }
  void write(std::string text) {
    EXPECT_TRUE(store_
                    .put_blob(scheduler::kOverlayKey, {std::move(text), std::nullopt},
                              store::BlobCondition::kAlways)
                    .await_resume());
  }
  void tell() {
    (void)bus_.publish(std::string(bus::kConfigSubject),
                       scheduler::config_changed_packet("system", "default", clock_.wall()), {});
    loop_.run_ready();
  }
  static std::string running_for(int seconds) {
    return R"({"data":{"timeouts":{"reconciler":{"dispatch_timeout_seconds":1,)"
           R"("running_timeout_seconds":)" +
           std::to_string(seconds) + "}}}}";
  }

  Site one_, two_;
};

TEST_F(ConfigWatchTest, BringsIntoForceWhatIsThereAtTheStart) {
  write(R"({"data":{"scheduler":{"input_fail_mode":"open"}}})");
  begin(one_);
  EXPECT_EQ(one_.mode, FailMode::kOpen);
  EXPECT_EQ(one_.pools, nullptr);
  EXPECT_FALSE(one_.running);
}

TEST_F(ConfigWatchTest, PutsTheFilesIntoTheDocumentForAll) {
  begin(one_, {.pools = pools()});
  EXPECT_THAT(document(), HasSubstr("job.default"));
  ASSERT_NE(one_.pools, nullptr);
  begin(two_);
  ASSERT_NE(two_.pools, nullptr) << "it has no file of its own";
  EXPECT_EQ(two_.pools->topics().size(), 1u);
}

TEST_F(ConfigWatchTest, AllSwitchWhenSomebodySaysThatItChanged) {
  begin(one_);
  begin(two_);
  write(running_for(77));
  loop_.run_ready();
  EXPECT_FALSE(one_.running) << "nobody said so yet";
  tell();
  EXPECT_EQ(one_.running, Duration(77s));
  EXPECT_EQ(two_.running, Duration(77s));
}

TEST_F(ConfigWatchTest, AChangeNobodyTellsOfIsFoundInTime) {
  begin(one_);
  write(running_for(77));
  loop_.run_for(29s);
  EXPECT_FALSE(one_.running);
  loop_.run_for(2s);
  EXPECT_EQ(one_.running, Duration(77s));
}

TEST_F(ConfigWatchTest, WhatMakesNoSenseIsKeptOut) {
  write(running_for(77));
  begin(one_);
  for (const char* bad : {"nonsense", R"({"data":{"pools":{"topics":{"job.a":"missing"}}}})"}) {
    write(bad);
    tell();
    EXPECT_EQ(one_.running, Duration(77s)) << bad;
    EXPECT_EQ(one_.pools, nullptr) << bad;
  }
  write(running_for(78));
  tell();
  EXPECT_EQ(one_.running, Duration(78s)) << "it looks on";
}

TEST_F(ConfigWatchTest, ANoticeTellsOthersThatReadTheirOwn) {
  begin(one_);
  begin(two_);
  const int before = two_.reread;
  one_.watch->announce("fairlead", "pools");
  loop_.run_ready();
  EXPECT_GT(two_.reread, before);
}

TEST_F(ConfigWatchTest, AnEditedPoolsFileReachesAll) {
  begin(one_, {.pools = pools()});
  begin(two_);
  auto edited = routing::parse_pool_map("topics: {job.new: default}\npools: {default: {}}\n");
  EXPECT_TRUE(run(one_.watch->take_pools(std::make_shared<const routing::PoolMap>(*edited))));
  loop_.run_ready();
  for (const Site* site : {&one_, &two_}) {
    ASSERT_NE(site->pools, nullptr);
    EXPECT_EQ(site->pools->topics().size(), 2u) << "entries are added, none is taken away";
  }
}

}  // namespace
}  // namespace fairlead::app
