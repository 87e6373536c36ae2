#include "scheduler/job_tasks.h"

#include <stdexcept>

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// A gate that throws about one job while it is told to.
class MoodyGate final : public gate::Gate {
 public:
  explicit MoodyGate(bool in_process = true) : in_process_(in_process) {}
  bool in_process() const override { return in_process_; }
  Future<Result<job::Decision>> check(const cap::JobRequest& request, const job::Record&) override {
    if (throws && request.job_id() == "mine") throw std::runtime_error("no such rule");
    job::Decision allow;
    allow.kind = job::Decision::Kind::kAllow;
    return Result<job::Decision>(allow);
  }
  bool throws = false;

 private:
  const bool in_process_;
};

class ErrorLog final : public Log {
 public:
  void write(Level level, std::string_view phrase, std::initializer_list<Field>) override {
    if (level == Level::kError) phrases.emplace_back(phrase);
  }
  std::vector<std::string> phrases;
};

class PanicTest : public ReplicaTest {
 protected:
  static constexpr const char* kPanic = "scheduler packet handler panic";

  Plugs with(gate::Gate& gate) { return {loop_, clock_, random_, store_, bus_, gate, panics_}; }
  bool lease_is_free(const char* job) {
    return *store_.acquire(store::job_lease_key(JobId(job)), {"other.1.x", 60s}).await_resume();
  }

  ErrorLog panics_;
};

TEST_F(PanicTest, IN3_AWaitingJobThatAGateThrowsAboutHoldsUpNobodyAndIsTriedAgain) {
  MoodyGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(with(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("mine");
  submit("other");
  ASSERT_EQ(stored("mine")->wait->reason, job::ReasonCode::kNoWorkers);

  gate.throws = true;
  auto take = [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); };
  auto worker = bus_.subscribe("worker.w1.jobs", {}, take);
  beat("w1", 1, 0);
  EXPECT_EQ(panics_.phrases, std::vector<std::string>{kPanic});
  EXPECT_EQ(stored("other")->state, job::State::kRunning);
  cap::BusPacket packet;
  packet.mutable_job_result()->set_job_id("other");
  packet.mutable_job_result()->set_worker_id("w1");
  packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
  send(bus::kResultSubject, std::move(packet));
  loop_.run_for(5s);
  EXPECT_GE(panics_.phrases.size(), 4u);
  EXPECT_LE(panics_.phrases.size(), 8u) << "it is left alone for a second each time";

  gate.throws = false;
  beat("w1", 1, 0);
  loop_.run_for(2s);
  EXPECT_EQ(stored("mine")->state, job::State::kRunning);
  bus_.drop();
}

TEST_F(PanicTest, IN3_ADueJobThatAGateThrowsAboutIsLeftAloneForASecond) {
  MoodyGate gate;
  gate.throws = true;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(with(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  cap::JobRequest request;
  request.set_job_id("mine");
  request.set_topic("job.default");
  store::Change admission;
  *admission.next = job::new_record(request, TraceId("t"), clock_.wall());
  admission.next->due = clock_.wall() + 1s;
  admission.path = {job::State::kPending};
  admission.request = job::serialise(request);
  ASSERT_TRUE(store_.apply(std::move(admission)).await_resume());
  loop_.run_for(1s + 5s);
  EXPECT_GE(panics_.phrases.size(), 4u);
  EXPECT_LE(panics_.phrases.size(), 6u);
  EXPECT_TRUE(lease_is_free("mine"));
  bus_.drop();
}

TEST_F(PanicTest, IN3_AWalkOfItsOwnThatAGateThrowsAboutIsMadeAgain) {
  MoodyGate gate(false);
  gate.throws = true;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(with(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("mine");
  ASSERT_EQ(stored("mine")->state, job::State::kPending) << "it is admitted";
  EXPECT_EQ(panics_.phrases, std::vector<std::string>{kPanic});
  gate.throws = false;
  loop_.run_for(limits::kClaimTtl + limits::kRetryPanic);
  EXPECT_EQ(stored("mine")->wait->reason, job::ReasonCode::kNoWorkers) << "it was tried";
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
