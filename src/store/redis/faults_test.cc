// Servers that die, forget, fill up and fail over.
#include <csignal>
#include <fstream>
#include <set>

#include "store/redis/store_walk_fixture.h"

namespace fairlead::store::redis {
namespace {

using cluster::RedisServerProcess;

class Faults : public WalkTest {
 protected:
  void reopen(const std::string& url) { store_ = open_store(url, loop_, clock_); }

  Change admission(const std::string& job) {
    clock_.advance(1ms);
    Change change = dispatch(request(job));
    change.tenant_limit = change.worker_limit = 0;
    return change;
  }
  Result<Receipt> try_apply(Change change) { return loop_.wait(store_->apply(std::move(change))); }

  // Until a change is taken again.
  void until_writable(const std::string& job) {
    SystemClock real;
    MonotonicTime patience = real.monotonic() + 60s;
    for (int i = 0; !try_apply(admission(job + std::to_string(i))); ++i) {
      loop_.run_ready();
      check(real.monotonic() < patience, "the store is writable again within a minute");
    }
  }
};

TEST_F(Faults, EveryAcknowledgedChangeSurvivesKillsUnderLoad) {
  RedisServerProcess server({"--appendfsync", "always"});
  reopen(server.url());
  std::set<std::string> acknowledged, refused;
  int next = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::pair<std::string, Answer<Receipt>>> open_calls;
    for (int i = 0; i < 300; ++i) {
      std::string job = std::to_string(next++);
      open_calls.emplace_back(job, store_->apply(admission(job)));
      // Some are answered, some sent, some not yet when it dies.
      if (i % 100 == 50) loop_.run_ready();
      if (i == 200) server.kill();
    }
    for (auto& [job, answer] : open_calls) {
      Result<Receipt> receipt = loop_.wait(std::move(answer));
      if (receipt) acknowledged.insert(job);
      if (!receipt && receipt.error().code == ErrorCode::kUnavailable) refused.insert(job);
    }
    server.restart();
    until_writable("after" + std::to_string(round) + "-");
  }
  EXPECT_GT(acknowledged.size(), 0u);
  for (const std::string& job : acknowledged) EXPECT_TRUE(load(job)) << job;
  for (const std::string& job : refused) EXPECT_FALSE(load(job)) << job;
}

TEST_F(Faults, ScriptsThatTheServerForgotAreLoadedAgain) {
  Snapshot record = apply<Applied>(admission("a")).record;
  server().ask({"SCRIPT", "FLUSH"});
  apply<Applied>(run(*record));
  EXPECT_EQ(load("a")->state, State::kRunning);
}

TEST_F(Faults, AFullServerRefusesNewJobsWhileThoseItHasMayEnd) {
  RedisServerProcess server;
  reopen(server.url());
  Snapshot record = apply<Applied>(admission("a")).record;
  server.ask({"CONFIG", "SET", "maxmemory", "1mb"});
  Result<Receipt> refused = try_apply(admission("b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  record = apply<Applied>(run(*record)).record;
  apply<Applied>(succeed(*record));
  server.ask({"CONFIG", "SET", "maxmemory", "0"});
  apply<Applied>(admission("b"));
  EXPECT_EQ(server.number({"ZCARD", "job:index:dispatched"}), 1);
}

TEST_F(Faults, AFullServerKeepsTheReplicasAndWhatTheyHoldAlive) {
  RedisServerProcess server;
  reopen(server.url());
  auto acquires = [&](const char* token) {
    return get(store_->acquire("cordum:reconciler:default", {token, 60s}));
  };
  get(store_->sign_of_life("one.n"));
  get(store_->sign_of_life("two.n"));
  EXPECT_EQ(store_->write_problem(), "");
  EXPECT_TRUE(acquires("one.n.u"));
  Snapshot ends = apply<Applied>(admission("ends")).record;
  ends = apply<Applied>(succeed(*apply<Applied>(run(*ends)).record)).record;
  Change waits = admission("waits");
  waits.path = {State::kPending};
  waits.next->state = State::kPending;
  waits.next->publish_pending = false;
  waits.next->wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", clock_.wall()};
  apply<Applied>(std::move(waits));
  Snapshot runs = apply<Applied>(admission("runs")).record;
  server.ask({"CONFIG", "SET", "maxmemory", "1mb"});

  EXPECT_TRUE(loop_.wait(store_->sign_of_life("one.n")));
  EXPECT_NE(store_->write_problem().find("maxmemory"), std::string::npos);
  EXPECT_EQ(try_apply(admission("new")).error().code, ErrorCode::kFull);
  EXPECT_TRUE(acquires("one.n.u"));
  EXPECT_FALSE(acquires("two.n.u"));
  advance_server(server, limits::kAliveTtl);
  EXPECT_TRUE(loop_.wait(store_->sign_of_life("two.n")));
  EXPECT_TRUE(acquires("two.n.u")) << "the other one is dead";

  // A job is found for its result, and for its turn; and what is over goes.
  Loaded loaded = get(store_->load(JobId("runs"), {.mark = "mark"}));
  Change succeeds = succeed(*loaded.record);
  succeeds.path = {State::kRunning, State::kSucceeded};
  succeeds.mark = "mark";
  apply<Applied>(std::move(succeeds));
  ASSERT_EQ(get(store_->claim({{"class"}, 1})).size(), 1u);
  loaded = get(store_->load(JobId("waits"), {.lease = LeaseRequest{"two.n.u", 60s}}));
  EXPECT_TRUE(loaded.lease_taken);
  get(store_->put_workers({"{}", store_->clock().wall() + 24h}, {WorkerId("w")}));
  EXPECT_GT(get(store_->retire(store_->clock().wall() + limits::kEndedJobTtl, 100)), 0u);
  EXPECT_FALSE(load("ends"));

  server.ask({"CONFIG", "SET", "maxmemory", "0"});
  apply<Applied>(admission("new"));
  get(store_->sign_of_life("one.n"));
  EXPECT_EQ(store_->write_problem(), "");
}

TEST_F(Faults, AServerThatBecameAReplicaRefusesAndIsUsedAgainWhenItIsMaster) {
  RedisServerProcess server, master;
  reopen(server.url());
  server.ask({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  Result<Receipt> refused = try_apply(admission("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  server.ask({"REPLICAOF", "NO", "ONE"});
  until_writable("b");
}

TEST_F(Faults, TheMasterThatSentinelChoseIsFound) {
  auto master = std::make_unique<RedisServerProcess>();
  RedisServerProcess replica({"--replicaof", "127.0.0.1", std::to_string(master->port())});
  replica.ask_until({"INFO", "replication"}, "master_link_status:up");

  std::string file = (replica.folder() / "sentinel.conf").string();
  std::ofstream(file) << "sentinel monitor main 127.0.0.1 " << master->port() << " 1\n"
                      << "sentinel down-after-milliseconds main 60000\n"
                      << "dir " << replica.folder().string() << "\n";
  RedisServerProcess sentinel({file});
  sentinel.ask_until({"INFO", "sentinel"}, "slaves=1");

  reopen("redis-sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/main");
  ASSERT_TRUE(store_);
  apply<Applied>(admission("before"));
  // What the replica has received survives. WAIT looks at writes of its own connection.
  master->ask({"SET", "after", "before"});
  ASSERT_EQ(master->number({"WAIT", "1", "10000"}), 1);
  master->kill();
  sentinel.ask_until({"SENTINEL", "FAILOVER", "main"}, "OK");
  until_writable("after");
  EXPECT_TRUE(load("before"));
  EXPECT_NE(replica.text({"INFO", "replication"}).find("role:master"), std::string::npos);
}

TEST_F(Faults, ASentinelThatAsksForAPasswordIsGivenIts) {
  RedisServerProcess master({"--requirepass", "of the server"});
  std::string file = (master.folder() / "sentinel.conf").string();
  std::ofstream(file) << "requirepass watcher\n"
                      << "sentinel monitor main 127.0.0.1 " << master.port() << " 1\n"
                      << "sentinel auth-pass main \"of the server\"\n"
                      << "dir " << master.folder().string() << "\n";
  RedisServerProcess sentinel({file});
  const std::string url =
      "redis-sentinel://:of%20the%20server@127.0.0.1:" + std::to_string(sentinel.port()) + "/main";
  RedisOptions without;
  without.url = url;
  without.connect_patience = 300ms;
  auto refused = RedisStore::open(std::move(without), loop_, clock_, no_log());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("NOAUTH"), std::string::npos) << refused.error().message;
  reopen(url + "?sentinel_password=watcher");
  ASSERT_TRUE(store_);
  apply<Applied>(admission("a"));
}

TEST_F(Faults, AServerThatMayHaveLostWritesIsKnownAsSuchBeforeAnythingIsReadFromIt) {
  RedisServerProcess server;
  reopen(server.url());
  EXPECT_EQ(store_->rewound_at(), WallTime()) << "it has lost nothing yet";
  auto other = open_store(server.url(), loop_, clock_);
  clock_.advance(1h);
  server.kill();
  server.restart();
  Result<Loaded> loaded = fail(ErrorCode::kUnavailable, "");
  while (!loaded) {
    loop_.run_ready();
    loaded = loop_.wait(store_->load(JobId("a"), {}));
  }
  const WallTime noticed = store_->rewound_at();
  EXPECT_GE(noticed, clock_.wall());
  EXPECT_LT(noticed, clock_.wall() + 5s);
  clock_.advance(1h);
  // Whoever comes later learns when it was.
  EXPECT_EQ(open_store(server.url(), loop_, clock_)->rewound_at(), noticed);
}

// As a master that was just promoted does while it has no replica of its own.
TEST_F(Faults, AServerThatCannotNoteThatItIsAnotherIsTakenForOneThatLostWrites) {
  RedisServerProcess server;
  reopen(server.url());
  apply<Applied>(admission("a"));
  auto noted = [&] { return server.text({"HGET", "fairlead:server", "since"}); };
  server.ask({"HSET", "fairlead:server", "id", "another"});
  server.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  clock_.advance(1h);
  server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  Result<Loaded> loaded = fail(ErrorCode::kUnavailable, "");
  while (!loaded || store_->rewound_at() == WallTime()) {
    loop_.run_ready();
    loaded = loop_.wait(store_->load(JobId("a"), {}));
  }
  const WallTime first = store_->rewound_at();
  EXPECT_EQ(first, clock_.wall());
  EXPECT_EQ(noted(), "");

  server.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
  get(store_->sign_of_life("one.n"));
  EXPECT_GT(store_->rewound_at(), first);
  EXPECT_EQ(noted(), std::to_string(to_micros(store_->rewound_at())));
  // Once is enough.
  const WallTime second = store_->rewound_at();
  clock_.advance(1h);
  get(store_->sign_of_life("one.n"));
  EXPECT_EQ(store_->rewound_at(), second);
}

TEST_F(Faults, AServerThatLosesWritesTwiceIsKnownToHaveDoneSoWhateverTheClockShows) {
  RedisServerProcess server;
  reopen(server.url());
  auto lose = [&] {
    server.ask({"HSET", "fairlead:server", "id", "another"});
    return open_store(server.url(), loop_, clock_)->rewound_at();
  };
  const WallTime first = lose();
  clock_.set_wall(clock_.wall() - 1h);
  EXPECT_GT(lose(), first);
}

}  // namespace
}  // namespace fairlead::store::redis
