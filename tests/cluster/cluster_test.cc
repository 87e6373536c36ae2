// Replicas of `fairlead serve` on a real nats-server and a real redis-server.
#include <thread>

#include <gmock/gmock.h>

#include "tests/cluster/cluster_load.h"
#include "tests/cluster/meter.h"
#include "tests/cluster/replica_process.h"
#include "tests/load/reactor.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ClusterTest : public testing::TestWithParam<bool> {
 protected:
  Servers servers_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Bus, ClusterTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "JetStream" : "CoreNats"; });

TEST_P(ClusterTest, SaysWhatItRunsOn) {
  ReplicaProcess replica(servers_, "one");
  EXPECT_THAT(replica.ready_line(), HasSubstr(GetParam() ? "bus JetStream" : "bus NATS"));
  EXPECT_EQ(replica.stop(), 0);
}

TEST_P(ClusterTest, JobsRunWhicheverReplicaTakesThem) {
  ReplicaProcess one(servers_, "one");
  ReplicaProcess two(servers_, "two");
  ClusterLoad load(servers_.nats.port(), 4, 50);
  load.run_for(500ms);
  load.submit(one.api(), 100);
  load.submit(two.api(), 100);
  EXPECT_EQ(load.acknowledged().size(), 200u);
  EXPECT_TRUE(load.all_succeed(one.api(), 30s));
  EXPECT_EQ(load.repeated_epochs(), 0u);
  for (const auto& [job, epochs] : load.delivered()) EXPECT_EQ(epochs.size(), 1u) << job;
}

TEST_P(ClusterTest, AReplicaThatIsToldToStopLeavesItsWorkToTheOthers) {
  auto one = std::make_unique<ReplicaProcess>(servers_, "one");
  ReplicaProcess two(servers_, "two");
  ClusterLoad load(servers_.nats.port(), 2, 100);
  load.hold_results(true);
  load.run_for(500ms);
  load.submit(two.api(), 100);
  load.run_for(500ms);
  EXPECT_EQ(one->stop(), 0);
  load.hold_results(false);
  EXPECT_TRUE(load.all_succeed(two.api(), 30s));
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

// Without a stream a result that the dead one had in hand is gone, and its job goes on as that of a
// lost worker; but every job that was acknowledged is known, and was handed to a worker.
TEST_P(ClusterTest, AReplicaThatIsKilledLosesNoJobThatWasAcknowledged) {
  auto one = std::make_unique<ReplicaProcess>(servers_, "one");
  ReplicaProcess two(servers_, "two");
  ClusterLoad load(servers_.nats.port(), 4, 100);
  load.run_for(500ms);
  load.submit(one->api(), 200, 64);
  one->kill();
  if (GetParam()) {
    EXPECT_TRUE(load.all_succeed(two.api(), 15s)) << "within 15 seconds of the end";
  } else {
    load.run_for(10s);
    for (const std::string& job : load.acknowledged()) EXPECT_TRUE(load.delivered().contains(job));
  }
  EXPECT_EQ(load.repeated_epochs(), 0u);
}

class JetStreamTest : public testing::Test {
 protected:
  Servers servers_;
};

TEST_F(JetStreamTest, TheOthersTakeWhatAFrozenReplicaIsGiven) {
  ReplicaProcess one(servers_, "one");
  ReplicaProcess two(servers_, "two");
  ClusterLoad load(servers_.nats.port(), 2, 200);
  load.hold_results(true);
  load.run_for(500ms);
  load.submit(two.api(), 100);
  load.run_for(500ms);
  one.freeze();
  // NATS goes on giving it messages: nobody told it that the other side sleeps.
  load.hold_results(false);
  load.submit(two.api(), 50);
  EXPECT_TRUE(load.all_succeed(two.api(), 15s));
  one.thaw();
  EXPECT_EQ(load.repeated_epochs(), 0u);
  EXPECT_EQ(one.stop(), 0);
}

// Read, admit and dispatch, say that it runs, read for the result, end it; the sixth is the
// context, which is put beside the first.
TEST_F(JetStreamTest, AJobOverTheApiCostsSixRoundTripsToRedis) {
  ReplicaProcess one(servers_, "one");
  ClusterLoad load(servers_.nats.port(), 2, 200);
  load.run_for(500ms);
  constexpr int kJobs = 300;
  // What a replica asks all the time, whether there are jobs or not, is no cost of theirs.
  constexpr double kIdleCallsPerSecond = 60;
  // Jobs that have to wait cost more: one of three lots finds room at once.
  double calls = 0, most = 0;
  for (int lot = 1; lot <= 3 && (lot == 1 || calls > most); ++lot) {
    const uint64_t before = calls_of(servers_.redis, "evalsha");
    const auto began = std::chrono::steady_clock::now();
    load.submit(one.api(), kJobs);
    while (servers_.redis.number({"ZCARD", "job:index:succeeded"}) < lot * kJobs) {
      load.run_for(10ms);
      ASSERT_LT(std::chrono::steady_clock::now() - began, 30s);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    calls = static_cast<double>(calls_of(servers_.redis, "evalsha") - before);
    most = 5 * kJobs + kIdleCallsPerSecond * took.count();
  }
  EXPECT_LE(calls, most);
}

TEST_F(JetStreamTest, AReplicaFollowsWhatAnotherChangedInThePools) {
  ReplicaProcess one(servers_, "one");
  ReplicaProcess two(servers_, "two");
  EXPECT_THAT(load::get(two.api(), "/api/v1/pools/default"), HasSubstr("\"active\""));
  load::Reactor context;
  load::HttpClient client(context);
  ASSERT_TRUE(client.connect(one.api()));
  int status = 0;
  client.post("/api/v1/pools/default/drain", R"({"timeout_seconds":60})",
              [&status](int told, std::string_view) { status = told; });
  const auto began = std::chrono::steady_clock::now();
  while (status == 0 || !load::get(two.api(), "/api/v1/pools/default").contains("draining")) {
    context.run_for(10ms);
    ASSERT_LT(std::chrono::steady_clock::now() - began, 5s)
        << "long before it would look by itself";
  }
  EXPECT_EQ(status, 200);
}

TEST_F(JetStreamTest, AJobThatCannotBeReadStopsNeitherDeadlinesNorANewReplica) {
  ReplicaProcess one(servers_, "one");
  ClusterLoad load(servers_.nats.port(), 1, 10);
  load.hold_results(true);
  load.run_for(500ms);
  load.submit(one.api(), 1);
  ASSERT_EQ(load.acknowledged().size(), 1u);
  const std::string broken = *load.acknowledged().begin();
  servers_.redis.ask_until({"HGET", "job:meta:" + broken, "state"}, "RUNNING");
  for (const char* field : {"fl_rec", "fl_places"}) {
    servers_.redis.ask({"HSET", "job:meta:" + broken, field, "garbage"});
  }
  // It is overdue, and stands before the other one.
  servers_.redis.ask({"ZADD", "job:deadline", "1", broken});

  load::Reactor context;
  load::HttpClient client(context);
  ASSERT_TRUE(client.connect(one.api()));
  client.post("/api/v1/jobs", R"({"prompt":"x","topic":"job.default","deadline_ms":500})",
              [](int status, std::string_view) { EXPECT_EQ(status, 200); });
  const auto began = std::chrono::steady_clock::now();
  while (servers_.redis.number({"ZCARD", "job:index:timeout"}) == 0) {
    context.run_for(50ms);
    load.run_for(1ms);
    ASSERT_LT(std::chrono::steady_clock::now() - began, 20s);
  }
  one.kill();
  ReplicaProcess two(servers_, "two");
  EXPECT_THAT(two.ready_line(), HasSubstr("ready"));
}

TEST_F(JetStreamTest, IsNotReadyWhileRedisTakesNoWrites) {
  ReplicaProcess one(servers_, "one");
  EXPECT_THAT(load::get(one.metrics(), "/readyz"), HasSubstr("\"status\":\"ok\",\"redis\""));
  servers_.redis.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  load::Reactor context;
  auto pause = [&] { load::asio::steady_timer(context, 50ms).wait(); };
  const auto began = std::chrono::steady_clock::now();
  while (!load::get(one.metrics(), "/readyz").contains("NOREPLICAS")) {
    ASSERT_LT(std::chrono::steady_clock::now() - began, 10s);
    pause();
  }
  servers_.redis.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
  while (load::get(one.metrics(), "/readyz").contains("degraded")) {
    ASSERT_LT(std::chrono::steady_clock::now() - began, 20s);
    pause();
  }
}

}  // namespace
}  // namespace fairlead::cluster
