#include "scheduler/scheduler.h"

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "scheduler/replica_fixture.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// Policy over a wire: it never answers about the job "slow", and allows any other.
class HangingGate final : public gate::Gate {
 public:
  Future<Result<job::Decision>> check(const cap::JobRequest& request, const job::Record&) override {
    if (request.job_id() == "slow") return never.future();
    job::Decision allow;
    allow.kind = job::Decision::Kind::kAllow;
    return Result<job::Decision>(allow);
  }
  bool in_process() const override { return false; }

  Completer<Result<job::Decision>> never;
};

class SchedulerTest : public ReplicaTest {};

TEST_F(SchedulerTest, BeginsNothingNewWhileItStops) {
  HangingGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("client");
  packet.mutable_job_request()->set_job_id("slow");
  packet.mutable_job_request()->set_topic("job.default");
  (void)bus_.publish(std::string(bus::kSubmitSubject), job::serialise(packet), {});
  loop_.run_ready();
  ASSERT_EQ(scheduler.in_hand(), 1u);

  cap::JobRequest request;
  request.set_job_id("due");
  request.set_topic("job.default");
  store::Change admission;
  *admission.next = job::new_record(request, TraceId("t"), clock_.wall());
  admission.next->due = clock_.wall() + 1s;
  admission.path = {job::State::kPending};
  admission.request = job::serialise(request);
  ASSERT_TRUE(store_.apply(std::move(admission)).await_resume());

  tasks_.spawn(scheduler.stop(10s));
  loop_.run_for(5s);
  EXPECT_EQ(store_.load(JobId("due"), {}).await_resume()->record->revision, Revision(1));
  EXPECT_EQ(scheduler.in_hand(), 1u);
  loop_.run_for(6s);
  EXPECT_EQ(scheduler.in_hand(), 0u);
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
