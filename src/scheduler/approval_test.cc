// Jobs that a person has to approve, and did.
#include "scheduler/judge.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;
using job::State;

// Policy that asks for a person every time.
class AskingGate final : public gate::Gate {
 public:
  Future<Result<job::Decision>> check(const cap::JobRequest&, const job::Record&) override {
    ++asked;
    job::Decision decision;
    decision.kind = job::Decision::Kind::kRequireApproval;
    decision.policy_snapshot = "policy-1|overlay-a";
    decision.reason = "a person must look at it";
    return Result<job::Decision>(decision);
  }
  bool in_process() const override { return true; }

  int asked = 0;
};

class ApprovalTest : public ReplicaTest {
 protected:
  ApprovalTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    submit("job");
    EXPECT_EQ(stored("job")->state, State::kApprovalRequired);
    EXPECT_EQ(asking_.asked, 1);
  }
  ~ApprovalTest() override { bus_.drop(); }

  // As a gateway does it; then it submits the job again.
  void approve(job::Approval approval) {
    store::Change change;
    change.guard.revision = stored("job")->revision;
    *change.next = *stored("job");
    change.next->state = State::kPending;
    change.next->approval = std::move(approval);
    change.path = {State::kPending};
    ASSERT_TRUE(store_.apply(std::move(change)).await_resume());
    submit("job");
  }
  job::Approval fitting() { return {stored("job")->request_hash, "policy-1|overlay-b", "grace"}; }

  AskingGate asking_;
  Scheduler scheduler_{plugs(asking_), {}, pools()};
};

TEST_F(ApprovalTest, AnApprovedJobRunsWithoutPolicyBeingAskedAgain) {
  beat("w", 10, 0);
  auto listening = *bus_.subscribe("worker.w.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
    co_return bus::Verdict::ack();
  });
  approve(fitting());
  EXPECT_EQ(stored("job")->state, State::kRunning);
  EXPECT_EQ(stored("job")->decision.reason, "approval granted");
  EXPECT_EQ(stored("job")->decision.kind, job::Decision::Kind::kAllow);
  EXPECT_EQ(asking_.asked, 1);
  EXPECT_EQ(stored("job")->approval, std::nullopt) << "it was for one dispatch";
}

TEST_F(ApprovalTest, AnApprovalWaitsWithItsJobForAWorker_H21) {
  approve(fitting());
  EXPECT_EQ(stored("job")->wait->reason, job::ReasonCode::kNoWorkers);
  ASSERT_TRUE(stored("job")->approval);
  auto listening = *bus_.subscribe("worker.w.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
    co_return bus::Verdict::ack();
  });
  beat("w", 10, 0);
  loop_.run_for(1s);
  EXPECT_EQ(stored("job")->state, State::kRunning);
  EXPECT_EQ(asking_.asked, 1);
}

TEST_F(ApprovalTest, AnApprovalIsNotUsedUpByADispatchThatTheBusRefused) {
  beat("w", 10, 0);
  approve(fitting());
  EXPECT_EQ(stored("job")->state, State::kScheduled) << "nobody listens";
  EXPECT_TRUE(stored("job")->approval);
  EXPECT_EQ(asking_.asked, 1);
}

TEST_F(ApprovalTest, AnApprovalOfOtherContentOrPolicyDoesNotCount_H20) {
  job::Approval other = fitting();
  other.job_hash = "0123";
  approve(other);
  EXPECT_EQ(stored("job")->state, State::kApprovalRequired);
  EXPECT_EQ(asking_.asked, 2);
  EXPECT_EQ(stored("job")->approval, std::nullopt);
  other = fitting();
  other.policy_snapshot = "policy-2|overlay-a";
  approve(other);
  EXPECT_EQ(stored("job")->state, State::kApprovalRequired);
  EXPECT_EQ(asking_.asked, 3);
}

TEST_F(ApprovalTest, ALabelIsNoApproval_H20) {
  cap::BusPacket packet;
  cap::JobRequest& request = *packet.mutable_job_request();
  request.set_job_id("sly");
  request.set_topic("job.default");
  (*request.mutable_labels())["approval_granted"] = "true";
  (*request.mutable_labels())["approval_snapshot"] = "policy-1";
  send(bus::kSubmitSubject, packet);
  send(bus::kSubmitSubject, packet);
  EXPECT_EQ(stored("sly")->state, State::kApprovalRequired);
}

}  // namespace
}  // namespace fairlead::scheduler
