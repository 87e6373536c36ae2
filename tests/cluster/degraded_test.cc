// What a replica does while a server that it needs is away, stands still or is full: it says so,
// refuses what it cannot keep, and goes on by itself when the server is back. No job that was
// accepted is lost, and no epoch is handed out twice.
#include <csignal>
#include <functional>

#include <gmock/gmock.h>

#include "tests/cluster/cluster_load.h"
#include "tests/cluster/replica_process.h"
#include "tests/load/nats_client.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Degraded : public testing::Test {
 protected:
  Degraded() {
    load_.run_for(500ms);
    load_.hold_results(true);
    load_.submit(replica_.api(), kBefore);
    EXPECT_EQ(load_.acknowledged().size(), kBefore);
  }

  std::string readiness() { return load::get(replica_.metrics(), "/readyz"); }
  bool is_ready() { return load::json_text(readiness(), "status") == "ok"; }
  bool waits_for(const std::function<bool()>& wanted, Clock::duration patience = 30s) {
    const auto until = Clock::now() + patience;
    while (!wanted()) {
      if (Clock::now() > until) return false;
      load_.run_for(50ms);
    }
    return true;
  }
  // What the API says to one more job.
  int submit_one() {
    load::Reactor context;
    load::HttpClient client(context);
    if (!client.connect(replica_.api())) return 0;
    std::optional<int> told;
    client.post("/api/v1/jobs", R"({"prompt":"x","topic":"job.default"})",
                [&told](int status, std::string_view) { told = status; });
    const auto until = Clock::now() + 30s;
    while (!told && Clock::now() < until) context.run_for(10ms);
    return told.value_or(0);
  }
  // All that was accepted ends; results that a server lost are told again, as any worker would.
  bool all_end() {
    return waits_for([this] {
      load_.tell_results_again();
      return load_.all_succeed(replica_.api(), 1s);
    });
  }
  void expect_recovered() {
    EXPECT_TRUE(waits_for([this] { return is_ready(); })) << readiness();
    load_.hold_results(false);
    load_.submit(replica_.api(), kAfter);
    EXPECT_EQ(load_.acknowledged().size(), kBefore + kAfter);
    EXPECT_TRUE(all_end());
    EXPECT_EQ(load_.repeated_epochs(), 0u);
  }

  static constexpr size_t kBefore = 30;
  static constexpr size_t kAfter = 10;
  Servers servers_;
  ReplicaProcess replica_{servers_, "one"};
  ClusterLoad load_{servers_.nats.port(), 2, 100};
};

TEST_F(Degraded, WhileRedisStandsStillNothingIsAcceptedAndNothingIsLost) {
  servers_.redis.signal(SIGSTOP);
  EXPECT_EQ(submit_one(), 503);
  EXPECT_FALSE(is_ready());
  load_.hold_results(false);  // results come, and wait in their stream
  load_.run_for(200ms);
  servers_.redis.signal(SIGCONT);
  expect_recovered();
}

TEST_F(Degraded, WhileRedisIsAwayNothingIsAcceptedAndNothingIsLost) {
  servers_.redis.kill();
  EXPECT_TRUE(waits_for([this] { return !is_ready(); }));
  EXPECT_EQ(submit_one(), 503);
  load_.hold_results(false);
  load_.run_for(200ms);
  servers_.redis.restart();
  expect_recovered();
}

TEST_F(Degraded, WhileNatsIsAwayNothingIsLost) {
  servers_.nats.kill();
  EXPECT_TRUE(waits_for([this] { return !is_ready(); }));
  EXPECT_THAT(readiness(), testing::HasSubstr("NATS"));
  servers_.nats.start();
  expect_recovered();
}

TEST_F(Degraded, AFullRedisTakesNoNewJobsWhileThoseThatRunEnd) {
  servers_.redis.ask({"CONFIG", "SET", "maxmemory", "1mb"});
  EXPECT_TRUE(waits_for([this] { return readiness().contains("maxmemory"); })) << readiness();
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(submit_one(), 503);
  load_.hold_results(false);
  EXPECT_TRUE(all_end()) << "also while it is full";
  servers_.redis.ask({"CONFIG", "SET", "maxmemory", "0"});
  expect_recovered();
}

// Somebody who asks JetStream as an operator would.
std::string ask_jetstream(uint16_t nats, std::string_view subject, std::string_view question) {
  load::Reactor context;
  load::NatsClient operator_(context, "operator");
  std::string answer;
  operator_.subscribe("_INBOX.operator",
                      [&answer](const load::NatsMessage& message) { answer = message.payload; });
  const auto until = Clock::now() + 5s;
  if (!operator_.connect(nats)) return {};
  operator_.publish(subject, question, "_INBOX.operator");
  while (answer.empty() && Clock::now() < until) context.run_for(10ms);
  return answer;
}

// Workers that listen to their subjects get a job whatever the stream does with it.
TEST(FullStream, AJobThatItsStreamRefusesRunsOnce) {
  Servers servers;
  ASSERT_THAT(ask_jetstream(servers.nats.port(), "$JS.API.STREAM.CREATE.CORDUM_JOBS",
                            R"({"name":"CORDUM_JOBS","subjects":["job.>","worker.*.jobs"],)"
                            R"("retention":"limits","storage":"file","num_replicas":1,)"
                            R"("max_bytes":1,"discard":"new"})"),
              testing::HasSubstr("did_create"));
  ReplicaProcess replica(servers, "one");
  ClusterLoad load(servers.nats.port(), 2, 100);
  load.run_for(500ms);
  load.submit(replica.api(), 20);
  EXPECT_EQ(load.acknowledged().size(), 20u);
  EXPECT_TRUE(load.all_succeed(replica.api(), 30s));
  // A machine that stalls for as long as an unknown dispatch is left alone sees a second epoch.
  EXPECT_EQ(load.repeated_epochs(), 0u);
  size_t handed_out = 0;
  for (const auto& [job, epochs] : load.delivered()) handed_out += epochs.size();
  EXPECT_LE(handed_out, 2 * 20u);
}

}  // namespace
}  // namespace fairlead::cluster
