#include "scheduler/effective_config.h"

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

class GivenConfig final : public EffectiveConfig {
 public:
  Task<Result<std::string>> resolve(ConfigScope scope) override {
    asked = std::move(scope);
    co_return answer;
  }
  ConfigScope asked;
  Result<std::string> answer = std::string(R"({"limits":{"tokens":7}})");
};

// Keeps the environment of the last job that it was asked about.
class LookingGate final : public gate::Gate {
 public:
  bool in_process() const override { return true; }
  Future<Result<job::Decision>> check(const cap::JobRequest& request, const job::Record&) override {
    env = {request.env().begin(), request.env().end()};
    job::Decision allow;
    allow.kind = job::Decision::Kind::kAllow;
    return Result<job::Decision>(allow);
  }
  std::map<std::string, std::string> env;
};

class ConfigTest : public ReplicaTest {
 protected:
  ConfigTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    beat("w", 10, 0);
  }
  ~ConfigTest() override { bus_.drop(); }

  // The request as its worker gets it.
  cap::JobRequest dispatch(const std::string& job) {
    cap::BusPacket packet;
    cap::JobRequest& request = *packet.mutable_job_request();
    request.set_job_id(job);
    request.set_topic("job.default");
    request.set_tenant_id("acme");
    request.set_workflow_id("flow");
    (*request.mutable_env())["team_id"] = "blue";
    (*request.mutable_env())["step_id"] = "first";
    send(bus::kSubmitSubject, std::move(packet));
    return got_.job_request();
  }
  cap::JobRequest kept(const std::string& job) {
    cap::JobRequest request;
    request.ParseFromString(
        store_.load(JobId(job), {.with_request = true}).await_resume()->request);
    return request;
  }

  GivenConfig config_;
  LookingGate looking_;
  cap::BusPacket got_;
  std::unique_ptr<bus::Subscription> worker_ =
      *bus_.subscribe("worker.w.jobs", {}, [this](bus::Delivery delivery) -> Task<bus::Verdict> {
        got_.ParseFromString(delivery.payload);
        co_return bus::Verdict::ack();
      });
  Scheduler scheduler_{
      {loop_, clock_, random_, store_, bus_, looking_, log_, &config_}, {}, pools()};
};

TEST_F(ConfigTest, IN15_TheEffectiveConfigurationOfAJobIsInTheRequestThatItsWorkerGets) {
  const cap::JobRequest got = dispatch("job");
  EXPECT_EQ(got.env().at("CORDUM_EFFECTIVE_CONFIG"), R"({"limits":{"tokens":7}})");
  EXPECT_EQ(got.env().at("team_id"), "blue");
  EXPECT_EQ(looking_.env["CORDUM_EFFECTIVE_CONFIG"], R"({"limits":{"tokens":7}})");
  EXPECT_EQ(config_.asked.tenant, TenantId("acme"));
  EXPECT_EQ(config_.asked.team, "blue");
  EXPECT_EQ(config_.asked.workflow, "flow");
  EXPECT_EQ(config_.asked.step, "first");
  EXPECT_FALSE(kept("job").env().contains("CORDUM_EFFECTIVE_CONFIG")) << "what came stays";
}

TEST_F(ConfigTest, IN15_AJobGoesOnWithoutAConfigurationThatCannotBeHad) {
  for (Result<std::string> answer :
       {Result<std::string>(fail(ErrorCode::kUnavailable, "no store")), Result<std::string>(""),
        Result<std::string>(std::string(limits::kEffectiveConfigBytesMax + 1, ' '))}) {
    config_.answer = answer;
    const std::string job = "job" + std::to_string(answer ? answer->size() : 1);
    const cap::JobRequest got = dispatch(job);
    EXPECT_EQ(got.job_id(), job);
    EXPECT_FALSE(got.env().contains("CORDUM_EFFECTIVE_CONFIG")) << job;
  }
}

}  // namespace
}  // namespace fairlead::scheduler
